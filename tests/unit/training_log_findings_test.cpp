// The diagnoses one by one: what shows them and what comes close. tests/cli/log_diagnoses_test.py
// runs two hundred simulated logs besides.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <set>

#include "training_log/number.hpp"
#include "training_log/output/plot.hpp"
#include "training_log/output/text.hpp"
#include "training_log_fixture.hpp"

namespace gradlab::training_log {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

struct Row {
  double loss = 1, scale = 1024, norm = 0.5, lr = 0.1;
  bool skipped = false;
  std::string more;  // further fields, each with its comma
};

std::string word(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : fmt::format("\"{}\"", shown(value));
}

// A log of `steps` rows, each as `change` leaves it.
std::string log_of(int steps, const std::function<void(int, Row&)>& change) {
  std::string text;
  for (int step = 0; step < steps; ++step) {
    Row row;
    // Not all the same: 0.95 to 1.05 in an order that looks like none.
    row.loss = 1 + 0.05 * std::sin(step * 2.4);
    row.norm = 0.5 + 0.1 * std::sin(step * 1.7);
    change(step, row);
    text += fmt::format(
        "{{\"event\":\"step\",\"step\":{},\"loss\":{},\"scale\":{},\"norm\":{},\"skipped\":{},"
        "\"lr\":{}{}}}\n",
        step, word(row.loss), word(row.scale), word(row.norm), row.skipped, row.lr, row.more);
  }
  return text;
}

void skip(Row& row) {
  row.skipped = true;
  row.norm = HUGE_VAL;
}

TEST(TrainingLogFindings, a_healthy_run_says_nothing) {
  EXPECT_THAT(names_of(report_of(log_of(300, [](int, Row&) {}))), IsEmpty());
}

TEST(TrainingLogFindings, one_overflow_is_information) {
  const Report report = report_of(log_of(100, [](int step, Row& row) {
    if (step > 50) row.scale = 512;
    if (step == 50) skip(row);
  }));
  EXPECT_THAT(names_of(report), ElementsAre("single_overflow"));
  EXPECT_EQ(report.all()[0].severity, Severity::kInfo);
  EXPECT_EQ(report.all()[0].first, 50);
}

TEST(TrainingLogFindings, the_golden_run_s_ten_halvings_are_calibration) {
  EXPECT_THAT(names_of(report_of(log_of(14,
                                        [](int step, Row& row) {
                                          row.scale = 65536 / std::exp2(std::min(step, 10));
                                          if (step < 10) skip(row);
                                        }))),
              ElementsAre("calibration"));
}

TEST(TrainingLogFindings, skips_to_the_end_are_a_collapse_only_with_a_finite_loss) {
  const auto log = [](double loss) {
    return log_of(120, [loss](int step, Row& row) {
      if (step < 60) return;
      row.scale = 1024 / std::exp2(step - 60);
      row.loss = loss;
      skip(row);
    });
  };
  EXPECT_THAT(names_of(report_of(log(1.0))), ElementsAre("scale_collapse"));
  EXPECT_THAT(names_of(report_of(log(NAN))), ElementsAre("nan_without_overflow"));
}

TEST(TrainingLogFindings, a_scale_of_zero_is_a_collapse) {
  EXPECT_THAT(names_of(report_of(log_of(30, [](int, Row& row) { row.scale = 0; }))),
              Contains("scale_collapse"));
}

TEST(TrainingLogFindings, a_loss_that_was_nan_once_and_skipped_is_a_warning) {
  const Report report = report_of(log_of(100, [](int step, Row& row) {
    if (step != 40) return;
    row.loss = NAN;
    skip(row);
  }));
  EXPECT_THAT(names_of(report), ElementsAre("nan_without_overflow"));
  EXPECT_EQ(report.all()[0].severity, Severity::kWarning);
}

TEST(TrainingLogFindings, a_log_too_poor_for_a_cause_says_so) {
  std::string text;
  for (int step = 2900; step < 3100; step += 10) {
    text += fmt::format("iter {}: loss {}, time 101.25ms, mfu 12.50%\n", step,
                        step > 3000 ? "nan" : "4.25");
  }
  const Report report = report_of(text);
  ASSERT_THAT(names_of(report), ElementsAre("nonfinite_loss"));
  EXPECT_THAT(report.all()[0].evidence, Contains("first in the steps after 3000 up to 3010"));
  EXPECT_THAT(report.notes, Contains(HasSubstr("neither loss scale nor skips")));
}

TEST(TrainingLogFindings, updates_with_an_infinite_norm_are_critical) {
  const Report report = report_of(log_of(50, [](int step, Row& row) {
    if (step == 20) row.norm = NAN;
  }));
  EXPECT_THAT(names_of(report), ElementsAre("nonfinite_update"));
  EXPECT_EQ(report.all()[0].severity, Severity::kCritical);
}

TEST(TrainingLogFindings, early_and_late_skips_are_told_apart) {
  const Report report = report_of(log_of(500, [](int step, Row& row) {
    row.scale = step < 6 ? 65536 / std::exp2(step) : 1024;
    if (step < 6 || step == 300 || step == 400) skip(row);
  }));
  EXPECT_THAT(names_of(report), ElementsAre("calibration", "single_overflow"));
  EXPECT_EQ(report.runs[0]->skips, 8);
}

TEST(TrainingLogFindings, a_limit_on_the_command_line_counts) {
  const std::string text = log_of(300, [](int, Row& row) { row.norm = 5 + 0.1 * row.norm; });
  EXPECT_THAT(names_of(report_of(text)), IsEmpty());
  ReadOptions options;
  options.max_norm = 1;
  EXPECT_THAT(names_of(report_of(text, options)), ElementsAre("clip_always"));
  options.max_norm = 100;
  EXPECT_THAT(names_of(report_of(text, options)), ElementsAre("clip_never"));
}

TEST(TrainingLogFindings, a_norm_above_the_limit_is_no_fault_of_clipping) {
  ReadOptions options;
  options.max_norm = 1;
  const std::string text = log_of(100, [](int step, Row& row) {
    row.norm = step % 10 == 0 ? 3.7 : 0.5;
    row.more = step % 10 == 0 ? ",\"clipped\":true" : ",\"clipped\":false";
  });
  EXPECT_THAT(names_of(report_of(text, options)), IsEmpty());
}

TEST(TrainingLogFindings, micro_batches_show_a_small_last_window) {
  const auto log = [](double share) {
    return log_of(200, [share](int step, Row& row) {
      const bool last = step % 20 == 19;
      row.norm = last ? share * row.norm : row.norm;
      row.more = fmt::format(",\"micro_batches\":{}", last ? 2 : 8);
    });
  };
  EXPECT_THAT(names_of(report_of(log(0.25))), ElementsAre("small_last_window"));
  EXPECT_THAT(names_of(report_of(log(1))), IsEmpty());
}

TEST(TrainingLogFindings, a_schedule_that_holds_on_a_skip_is_right_in_both_places_of_logging) {
  const auto log = [](int hold_from, bool holds) {
    return log_of(60, [=](int step, Row& row) {
      row.lr = 0.001 * (step - (holds && step > hold_from ? 1 : 0));
      if (step == 30) skip(row);
    });
  };
  EXPECT_THAT(names_of(report_of(log(30, true))), Not(Contains("schedule_on_skips")));  // rate used
  EXPECT_THAT(names_of(report_of(log(29, true))),
              Not(Contains("schedule_on_skips")));  // rate after
  EXPECT_THAT(names_of(report_of(log(30, false))), Contains("schedule_on_skips"));
}

TEST(TrainingLogFindings, a_retry_is_told_from_two_runs_with_other_settings) {
  const auto run = [](const char* seed, int overflow) {
    return fmt::format("{{\"event\":\"run_start\",\"seed\":{},\"time\":{}}}\n", seed, overflow) +
           log_of(100, [overflow](int step, Row& row) {
             if (step == overflow) skip(row);
           });
  };
  EXPECT_THAT(names_of(report_of(run("1", 50) + run("1", 50))), Contains("retry_same_overflow"));
  EXPECT_THAT(names_of(report_of(run("1", 50) + run("2", 50))),
              Not(Contains("retry_same_overflow")));
  EXPECT_THAT(names_of(report_of(run("1", 50) + run("1", 60))),
              Not(Contains("retry_same_overflow")));
}

TEST(TrainingLogFindings, what_is_explained_by_another_finding_is_left_out) {
  std::vector<Finding> findings = {finding("loss_scaled", 0, 9), finding("loss_spike", 5, 5)};
  drop_symptoms(findings);
  EXPECT_THAT(findings, SizeIs(1));
}

TEST(TrainingLogFindings, critical_stands_before_warning_before_information) {
  std::vector<Finding> findings = {finding("calibration", 0, 3), finding("scale_collapse", 50, 90),
                                   finding("no_gradient", 10, 20)};
  rank(findings);
  EXPECT_EQ(findings[0].name, "scale_collapse");
  EXPECT_EQ(findings[1].name, "no_gradient");
}

// The student's page has a row for each diagnosis, with its severity, in the catalogue's order.
TEST(TrainingLogFindings, the_handout_names_all_of_them) {
  const std::filesystem::path root = std::getenv("GRADLAB_ROOT");
  const std::string handout = gradlab::testing::read_text(root / "handouts/reading_logs.md");
  std::size_t at = 0;
  std::set<std::string> names;
  for (const Diagnosis& each : catalogue()) {
    const auto row =
        handout.find(fmt::format("\n| `{}` | {} | ", each.name, word_of(each.severity)), at);
    EXPECT_NE(row, std::string::npos) << each.name;
    at = row == std::string::npos ? at : row;
    names.insert(each.name);
    EXPECT_FALSE(each.change_first.empty()) << each.name;
  }
  EXPECT_EQ(names.size(), catalogue().size());
  std::size_t rows = 0;
  for (std::size_t from = 0; (from = handout.find("\n| `", from)) != std::string::npos; ++from) {
    const auto end = handout.find('`', from + 4);
    rows += names.contains(handout.substr(from + 4, end - from - 4)) ? 1 : 0;
  }
  EXPECT_EQ(rows, names.size());
}

TEST(TrainingLogPlot, is_plain_ascii_and_keeps_to_its_width) {
  Series series;
  for (int step = 0; step < 500; ++step) series.add(step, step == 250 ? NAN : 1 + step % 7);
  PlotStyle style;
  const auto lines = plot(series, 0, 499, style);
  ASSERT_EQ(lines.size(), 7u);
  for (const auto& line : lines) {
    EXPECT_LE(line.size(), 80u);
    for (const char c : line) EXPECT_TRUE(c >= ' ' && c <= '~');
  }
  EXPECT_THAT(lines[0], HasSubstr("x"));
  EXPECT_THAT(lines[0], HasSubstr("7|"));
  EXPECT_THAT(lines[6], HasSubstr("1|"));
}

TEST(TrainingLogPlot, a_value_that_is_not_finite_is_no_zero) {
  Series series;
  for (int step = 0; step < 10; ++step) series.add(step, step % 2 == 0 ? 2.0 : NAN);
  PlotStyle style;
  for (const auto& line : plot(series, 0, 9, style)) EXPECT_EQ(line.find("0|"), std::string::npos);
  EXPECT_THAT(plot(series, 0, 9, style)[3], HasSubstr("2|"));  // one level, in the middle
}

TEST(TrainingLogPlot, a_lone_finite_point_between_two_nan_stays_visible) {
  Series series;
  series.add(0, NAN);
  series.add(1, 1.0);
  series.add(2, NAN);
  std::string all;
  for (const auto& line : plot(series, 0, 2, PlotStyle{})) all += line;
  EXPECT_THAT(all, HasSubstr("*"));
}

TEST(TrainingLogText, hostile_bytes_of_a_log_do_not_reach_the_terminal) {
  const Report report = report_of("\x1b]0;title\x07 hello\n" + log_of(5, [](int, Row&) {}));
  const std::string text = explain_text(report, {80, false});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
  for (std::size_t from = 0; from < text.size();) {
    const auto end = text.find('\n', from);
    EXPECT_LE(end - from, 80u);
    from = end + 1;
  }
}

}  // namespace
}  // namespace gradlab::training_log
