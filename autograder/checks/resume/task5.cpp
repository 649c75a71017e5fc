// resume.5: the whole trainer in a file that is never half.
#include "cases.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::resume_checks;

TEST_F(Resume, task5_a_file_resumes_the_run) {
  const std::vector<Case> cases{
      draw_run(random(), {.calls = 4, .cut = 2, .by_another_process = true}),
      draw_run(random(), {.calls = 24,
                          .cut = 7,
                          .window = 2,
                          .examples = 6,
                          .two_layers = true,
                          .by_another_process = true}),
      draw_run(random(), {.calls = 10, .cut = 5, .window = 2, .examples = 8, .into_used = true}),
  };
  const auto got = subject().observe("resumed_file", cases);
  const auto want = reference().observe("resumed_file", cases);
  expect_reference(together(cases, got, want));
}

TEST_F(Resume, task5_forty_steps_through_a_file) {
  const std::vector<Case> cases{
      draw_forty_steps(random(), {.by_another_process = true}).integer("also_without_a_cut", 1)};
  const auto got = subject().observe("resumed_file", cases);
  const auto want = reference().observe("resumed_file", cases);
  expect_uninterrupted(together(cases, got, want));
}

TEST_F(Resume, task5_a_file_at_every_call) {
  const std::vector<Case> cases{
      draw_run(random(), {.calls = 3, .cut = kEveryCall, .window = 2}),
      draw_run(random(),
               {.calls = 6, .cut = kEveryCall, .window = 2, .examples = 5, .two_layers = true}),
  };
  const auto got = subject().observe("resumed_file", cases);
  const auto want = reference().observe("resumed_file", cases);
  expect_reference(together(cases, got, want));
}

TEST_F(Resume, task5_a_newer_file_replaces_the_older) {
  const auto cases = draw(2, [](Random& random, int i) {
    return draw_run(random, {.calls = 9, .cut = 1, .examples = 5, .two_layers = i == 1})
        .integer("again", 3);
  });
  const auto got = subject().observe("replaced_file", cases);
  const auto want = reference().observe("replaced_file", cases);
  expect_reference(together(cases, got, want));
}

TEST_F(Resume, task5_an_open_file_stays_whole) {
  const auto cases = draw(2, [](Random& random, int i) {
    return draw_run(random, {.calls = 3, .cut = 1, .two_layers = i == 1});
  });
  const auto got = subject().observe("open_file", cases);
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, Word("what_the_open_file_holds", "the old checkpoint"));
  }
}

// The next file may hold this share of its bytes; 1 is one byte less than all.
std::vector<Case> interrupted(Random& random, const std::string& end) {
  std::vector<Case> cases;
  for (const double share : {0.5, 1.0}) {
    cases.push_back(
        draw_run(random, {.calls = 3, .cut = 1}).word("end", end).number("share_written", share));
  }
  return cases;
}

TEST_F(Resume, task5_a_killed_save_leaves_the_old_file) {
  const auto cases = interrupted(random(), "killed");
  const auto got = subject().observe("interrupted_save", cases);
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, Word("the_file_then", "an old or a new one, whole"));
  }
}

TEST_F(Resume, task5_a_full_disk_is_told) {
  const auto cases = interrupted(random(), "disk full");
  const auto got = subject().observe("interrupted_save", cases);
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, ThrewRuntimeError());
    EXPECT_THAT(run.got, Word("the_file_then", "an old or a new one, whole"));
  }
}

Case refused(Random& random, const std::string& file) {
  return draw_run(random, {.calls = 5, .cut = 1}).integer("load", 3).word("file", file);
}

void expect_refused(const Together& runs) {
  for (const auto& run : runs) EXPECT_THAT(run.got, ThrewRuntimeError());
  expect_reference(runs);
}

TEST_F(Resume, task5_a_missing_file_is_refused) {
  const std::vector<Case> cases{refused(random(), "none")};
  const auto got = subject().observe("refused_file", cases);
  const auto want = reference().observe("refused_file", cases);
  expect_refused(together(cases, got, want));
}

TEST_F(Resume, task5_a_truncated_file_is_refused) {
  std::vector<Case> cases;
  for (const double share : {0.5, 0.0, 0.01, 0.25, 0.75, 0.99, 1.0}) {
    cases.push_back(refused(random(), "cut short").number("share_that_is_left", share));
  }
  const auto got = subject().observe("refused_file", cases);
  const auto want = reference().observe("refused_file", cases);
  expect_refused(together(cases, got, want));
}

TEST_F(Resume, task5_a_foreign_file_is_refused) {
  std::vector<Case> cases;
  for (const std::string file : {"empty", "text", "zeros", "its second half"}) {
    cases.push_back(refused(random(), file));
  }
  const auto got = subject().observe("refused_file", cases);
  const auto want = reference().observe("refused_file", cases);
  expect_refused(together(cases, got, want));
}

// Another model in the file: a last weight more or less, another shape (of as many elements, too),
// another name; and both weights at once.
std::vector<Case> other_models(Random& random) {
  const auto base = [&] {
    auto in = draw_run(random, {.calls = 5, .two_layers = true}).integer("load", 3);
    return in.set("weights_of_file", in.copies("weights")).integer("renamed", -1);
  };
  const auto with_shape = [&](size_t index, torch::IntArrayRef shape) {
    auto in = base();
    auto weights = in.tensors("weights_of_file");
    weights.at(index) = torch::full(shape, 0.5);
    return in.set("weights_of_file", weights);
  };
  std::vector<Case> cases{with_shape(0, {2, 3}), with_shape(1, {1, 3}), with_shape(1, {2, 1}),
                          with_shape(0, {4, 1})};
  for (const int64_t renamed : {0, 1}) cases.push_back(base().integer("renamed", renamed));
  auto fewer = base(), more = base();
  fewer.set("weights_of_file", {fewer.tensors("weights_of_file").front()});
  auto both = with_shape(0, {3, 2});
  cases.push_back(
      both.set("weights_of_file", {torch::full({3, 2}, 0.5), torch::full({1, 3}, 0.5)}));
  more.add("weights_of_file", torch::full({1, 1}, 0.5));
  cases.push_back(fewer);
  cases.push_back(more);
  return cases;
}

TEST_F(Resume, task5_another_models_file_is_refused) {
  const auto cases = other_models(random());
  const auto got = subject().observe("other_model", cases);
  const auto want = reference().observe("other_model", cases);
  expect_refused(together(cases, got, want));
}

std::string first_difference(const Case& in) {
  static const Names kNames{"encoder.weight", "decoder.weight", "head.weight"};
  const auto& here = in.tensors("weights");
  const auto& there = in.tensors("weights_of_file");
  size_t i = 0;
  while (i < std::min(here.size(), there.size()) && here[i].sizes() == there[i].sizes() &&
         in.integer("renamed") != static_cast<int64_t>(i)) {
    ++i;
  }
  return i < std::max(here.size(), there.size()) ? kNames.at(i) : "none";
}

TEST_F(Resume, task5_the_first_other_weight_is_named) {
  const auto cases = other_models(random());
  const auto got = subject().observe("other_model", cases);
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, Word("first_weight_in_the_message", first_difference(run.in)));
  }
}

}  // namespace
