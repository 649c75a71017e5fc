// Files as they are in life: torn, mixed, doubled, in other encodings; and what becomes of skips
// that a log tells in its own way.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>

#include "training_log/number.hpp"
#include "training_log_fixture.hpp"

namespace gradlab::training_log {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;

std::string own_step(int step, double loss = 1, double scale = 1024, bool skipped = false) {
  return fmt::format(
      "{{\"event\":\"step\",\"step\":{},\"loss\":{},\"scale\":{},\"norm\":{},\"skipped\":{}}}\n",
      step, loss, scale, skipped ? "\"inf\"" : "1.0", skipped);
}

std::string own_steps(int from, int to) {
  std::string text;
  for (int step = from; step < to; ++step) text += own_step(step, 2 - step / 1000.0);
  return text;
}

std::string in_utf16(const std::string& text, bool little, bool mark) {
  std::string bytes;
  const auto put = [&](unsigned char high, unsigned char low) {
    bytes += static_cast<char>(little ? low : high);
    bytes += static_cast<char>(little ? high : low);
  };
  if (mark) put(0xFE, 0xFF);
  for (const char c : text) put(0, static_cast<unsigned char>(c));
  return bytes;
}

TEST(TrainingLogReading, an_empty_file_is_told) {
  const Report report = report_of("");
  EXPECT_TRUE(report.runs.empty());
  EXPECT_THAT(report.notes, Contains("the file is empty"));
}

TEST(TrainingLogReading, a_file_that_is_missing_or_a_folder_is_refused) {
  EXPECT_THROW(read_log("/nowhere/run.log"), LogError);
  const gradlab::testing::TempFolder folder;
  EXPECT_THAT(gradlab::testing::message_of<LogError>([&] { read_log(folder.path().string()); }),
              HasSubstr("without diary.jsonl or metrics.jsonl"));
}

TEST(TrainingLogReading, encodings_give_the_same_steps) {
  const std::string plain = own_steps(0, 30);
  std::string crlf;
  for (const char c : plain) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  for (const std::string& text : {plain, crlf, "\xEF\xBB\xBF" + plain, in_utf16(plain, true, true),
                                  in_utf16(plain, false, true), in_utf16(plain, true, false),
                                  in_utf16(plain, false, false)}) {
    const Report report = report_of(text);
    ASSERT_EQ(report.runs.size(), 1u);
    EXPECT_EQ(report.runs[0]->lines, 30);
    EXPECT_EQ(report.not_understood, 0u);
  }
}

TEST(TrainingLogReading, a_torn_last_line_is_left_out_and_told) {
  const Report report = report_of(own_steps(0, 2) + "{\"step\": 3, \"lo");
  EXPECT_EQ(report.runs[0]->lines, 2);
  EXPECT_THAT(report.notes, Contains("the last line is cut off (line 3); it was left out"));
  EXPECT_EQ(report.not_understood, 0u);
}

TEST(TrainingLogReading, a_whole_last_line_without_its_end_counts) {
  std::string text = own_steps(0, 3);
  text.pop_back();
  EXPECT_EQ(report_of(text).runs[0]->lines, 3);
}

TEST(TrainingLogReading, garbage_is_counted_shown_and_skipped) {
  const Report report =
      report_of("Loading\n" + own_steps(0, 5) + "{\"step\": 3, \"lo\n" + own_steps(5, 9));
  EXPECT_EQ(report.runs[0]->lines, 9);
  EXPECT_EQ(report.not_understood, 2u);
  EXPECT_THAT(report.garbage, ElementsAre("line 1: Loading", "line 7: {\"step\": 3, \"lo"));
}

TEST(TrainingLogReading, ten_megabytes_on_one_line_are_passed_over) {
  const Report report =
      report_of(own_steps(0, 5) + std::string(10 << 20, 'a') + "\n" + own_steps(5, 9));
  EXPECT_EQ(report.runs[0]->lines, 9);
  EXPECT_THAT(report.notes, Contains("1 line longer than 1 MiB, skipped"));
}

TEST(TrainingLogReading, a_carriage_return_as_the_last_byte_ends_a_line) {
  std::string text = own_steps(0, 3);
  text.back() = '\r';
  EXPECT_EQ(report_of(text).runs[0]->lines, 3);
}

TEST(TrainingLogReading, several_ranks_count_once_and_conflicts_are_told) {
  std::string text;
  for (int step = 0; step < 20; ++step) {
    for (int rank = 0; rank < 8; ++rank) {
      text += fmt::format("[default{}]:step={} loss={} grad_norm={}\n", rank, step, 2.5,
                          rank == 3 && step == 7 ? 9.0 : 1.0);
    }
  }
  const Report report = report_of(text);
  EXPECT_EQ(report.runs[0]->lines, 20);
  EXPECT_THAT(report.notes, Contains(HasSubstr("from step 7 on")));
}

TEST(TrainingLogReading, steps_that_go_back_are_a_resume_or_a_new_run) {
  const Report resumed = report_of(own_steps(0, 80) + own_steps(40, 90));
  EXPECT_EQ(resumed.runs.size(), 1u);
  EXPECT_THAT(resumed.notes, Contains(HasSubstr("steps go back once (first from 79 to 40)")));
  const Report two = report_of(own_steps(0, 80) + own_steps(0, 90));
  EXPECT_EQ(two.runs.size(), 2u);
  EXPECT_THAT(two.notes, Contains("2 runs in one file"));
}

TEST(TrainingLogReading, more_runs_than_are_kept_are_counted) {
  std::string text;
  for (int run = 0; run < 20; ++run) text += own_steps(0, 5);
  const Report report = report_of(text);
  EXPECT_EQ(report.runs.size(), Report::kMostRuns);
  EXPECT_EQ(report.more_runs, 4u);
}

TEST(TrainingLogReading, a_clock_that_goes_back_is_told) {
  const Report report = report_of(
      "{\"step\":0,\"loss\":1,\"time\":1700000002}\n{\"step\":1,\"loss\":1,\"time\":1700000001}\n");
  EXPECT_THAT(report.notes, Contains(HasSubstr("the clock goes back at 1 line")));
}

TEST(TrainingLogReading, running_totals_and_flags_are_told_apart) {
  // A total stays at 1 after the skip; a flag falls back.
  std::string total, flag;
  for (int step = 0; step < 10; ++step) {
    total += fmt::format("step={} loss=1 skipped={}\n", step, step < 3 ? 0 : step < 6 ? 1 : 2);
    flag += fmt::format("step={} loss=1 skipped={}\n", step, step == 3 || step == 6 ? 1 : 0);
  }
  EXPECT_EQ(report_of(total).runs[0]->skips, 2);
  EXPECT_EQ(report_of(flag).runs[0]->skips, 2);
}

TEST(TrainingLogReading, overflow_lines_find_their_step) {
  const auto steps = steps_of(
      "step: 3 loss: 2.0\nGradient overflow.  Skipping step, loss scaler 0 reducing loss scale to "
      "32768.0\nstep: 4 loss: 2.1\nstep: 5 loss: 2.0\n");
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_FALSE(steps[0].skipped);
  EXPECT_THAT(steps[1].skipped, Optional(true));
  EXPECT_THAT(steps[1].scale, Optional(65536.0));
  EXPECT_THAT(steps[1].scale_after, Optional(32768.0));
}

TEST(TrainingLogReading, overflow_lines_of_one_rank_count) {
  std::string text;
  for (const int rank : {0, 1, 2, 3}) {
    text += fmt::format(
        "[deepspeed] OVERFLOW! Rank {} Skipping step. Attempted loss scale: 4096, "
        "reducing to 2048\n",
        rank);
  }
  const Report report = report_of(text + "step=1, skipped=1, lr=[0.1], mom=[0.9]\n");
  EXPECT_EQ(report.runs[0]->skips, 1);
}

TEST(TrainingLogReading, the_scale_behind_update_is_put_where_it_was_used) {
  std::string text;
  const double after[] = {8192, 8192, 4096, 4096};
  for (int i = 0; i < 4; ++i) {
    text += fmt::format(
        " iteration {:8}/ 500 | lm loss: 2.0E+00 | loss scale: {} | grad norm: 1.0 | "
        "number of skipped iterations: {} |\n",
        i + 1, after[i], i == 2 ? 1 : 0);
  }
  const auto steps = steps_of(text);
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_THAT(steps[2].scale, Optional(8192.0));
  EXPECT_THAT(steps[2].scale_after, Optional(4096.0));
  EXPECT_THAT(steps[3].scale, Optional(4096.0));
}

TEST(TrainingLogReading, an_ormas_folder_is_one_log) {
  const gradlab::testing::TempFolder folder;
  std::string metrics;
  for (int step = 0; step <= 500; step += 50) {
    metrics += fmt::format("{{\"step\":{},\"loss\":1.5,\"grad\":{{\"a\":{}}},\"stuck\":{{}}}}\n",
                           step, step == 200 ? "Infinity" : "3.0");
  }
  folder.write("metrics.jsonl", metrics);
  folder.write(
      "diary.jsonl",
      "{\"seq\":0,\"time\":1.0,\"event\":\"run_start\",\"name\":\"r\",\"prev\":\"\",\"hash\":\"\"}"
      "\n"
      "{\"seq\":1,\"time\":2.0,\"event\":\"skipped_step\",\"severity\":\"info\",\"step\":200,"
      "\"scale\":65536.0,\"prev\":\"\",\"hash\":\"\"}\n");
  const Report report = read_log(folder.path().string());
  ASSERT_EQ(report.runs.size(), 1u);
  EXPECT_EQ(report.runs[0]->lines, 11);
  EXPECT_EQ(report.runs[0]->skips, 1);
  EXPECT_THAT(names_of(report), ElementsAre("single_overflow"));
}

TEST(TrainingLogReading, a_series_of_any_length_keeps_its_extremes) {
  Series series;
  for (int step = 0; step < 100000; ++step) {
    series.add(step, step == 77777 ? 1e6 : step == 500 ? NAN : 1.0);
  }
  EXPECT_LE(series.buckets().size(), Series::kBuckets);
  double most = 0;
  std::int64_t bad = 0, lines = 0;
  for (const Bucket& bucket : series.buckets()) {
    most = std::max(most, bucket.most);
    bad += bucket.nonfinite;
    lines += bucket.lines;
  }
  EXPECT_EQ(most, 1e6);
  EXPECT_EQ(bad, 1);
  EXPECT_EQ(lines, 100000);
}

TEST(TrainingLogReading, the_story_of_an_overflow) {
  const Report report =
      report_of(own_steps(400, 412) + own_step(412, 1, 65536, true) + own_step(413, 1, 32768) +
                own_step(414, 1, 32768) + own_step(415, 1, 32768));
  ASSERT_FALSE(report.runs[0]->story.first().empty());
  EXPECT_EQ(report.runs[0]->story.first().back().text,
            "step 412 overflowed: scale 65536 -> 32768, the batch left no update; steps 413-415 "
            "recovered");
}

TEST(TrainingLogReading, the_story_names_the_layers_that_overflowed) {
  const auto first_entry = [](const std::string& text) {
    return report_of(own_steps(0, 30) + text + own_step(31) + own_step(32) + own_step(33))
        .runs[0]
        ->story.first()
        .front()
        .text;
  };
  EXPECT_THAT(first_entry("{\"event\":\"step\",\"step\":30,\"loss\":1,\"scale\":8,\"norm\":\"inf\","
                          "\"skipped\":true,"
                          "\"layers\":{\"fc1\":\"inf\",\"fc2\":1.0,\"fc3\":\"nan\"}}\n"),
              HasSubstr("step 30 overflowed in fc1, fc3"));
  EXPECT_THAT(
      first_entry("{\"event\":\"skipped_step\",\"severity\":\"info\",\"step\":30,\"scale\":8,"
                  "\"layers\":[\"a.0\",\"b.1\"]}\n" +
                  own_step(30, 1, 8, true)),
      HasSubstr("step 30 overflowed in a.0, b.1"));
}

TEST(TrainingLogReading, numbers_are_shown_as_people_write_them) {
  EXPECT_EQ(shown(65536), "65536");
  EXPECT_EQ(shown(0.03125), "0.03125");
  EXPECT_EQ(shown(1.52587890625e-05), "1.53e-05");
  EXPECT_EQ(shown(-HUGE_VAL), "-inf");
  EXPECT_EQ(counted(1234567), "1,234,567");
  EXPECT_EQ(counted(999), "999");
}

}  // namespace
}  // namespace gradlab::training_log
