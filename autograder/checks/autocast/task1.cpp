// autocast.1: forward and loss in a region of CPU autocast.
#include "cases.hpp"

namespace {

using namespace gradlab;
using namespace gradlab::autocast_checks;

[[maybe_unused]] const bool kIdle = add_idle_answers<autocast::Impl>();

// A dtype twice in a row would hide that it was never set; both are asked for, in turn.
TEST_F(Autocast, task1_output_is_in_the_dtype_of_the_region) {
  std::vector<Case> cases;
  std::vector<torch::Tensor> worked;
  for (const auto& dtype : dtypes()) {
    // The first odd number that the type does not hold: the output is the even one below.
    const double odd = dtype == "float16" ? 2049 : 257;
    cases.push_back(one_layer(dtype, one(1), one(odd), one(odd)));
    worked.push_back(half_of(one(odd - 1), dtype));
    cases.push_back(one_layer(dtype, matrix({{1, 2}, {3, 4}}), matrix({{1, 1}}), matrix({{0, 0}})));
    worked.push_back(half_of(matrix({{3, 7}}), dtype));
    const auto weight = eighths(random(), {2, 2});
    cases.push_back(one_layer(dtype, weight, matrix({{1, 0}, {0, 1}}), matrix({{0, 0}, {0, 0}})));
    worked.push_back(half_of(weight.t().contiguous(), dtype));
  }
  const auto got = subject().observe("pass_once", cases);
  size_t i = 0;
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, Word("output_dtype", run.in.word("dtype")));
    // Exact: nothing is rounded that is not rounded in every right answer.
    EXPECT_THAT(run.got, Tensors("output", BitEqualTo({worked[i++]})));
  }
}

TEST_F(Autocast, task1_the_model_runs_in_the_region) {
  std::vector<Case> cases;
  for (const auto& caller : callers_outside()) {
    for (const auto& dtype : dtypes()) {
      cases.push_back(one_layer(dtype, one(1), one(2), one(1)).word("caller", caller));
    }
  }
  const auto got = subject().observe("pass_once", cases);
  for (const auto& run : together(cases, got, got)) {
    EXPECT_THAT(run.got, Word("region_of_the_model", "autocast on in " + run.in.word("dtype")));
  }
}

TEST_F(Autocast, task1_loss_is_taken_in_float32) {
  std::vector<Case> cases;
  std::vector<double> worked;
  for (const auto& dtype : dtypes()) {
    const auto add = [&](torch::Tensor weight, torch::Tensor x, torch::Tensor y, double loss) {
      cases.push_back(one_layer(dtype, std::move(weight), std::move(x), std::move(y)));
      worked.push_back(loss);
    };
    add(one(1), one(3), one(1), 4);
    add(one(0), one(1), one(300), 90000);  // no float16 is as large
    add(one(1), one(1), one(1.015625), 0x1p-12);
    add(one(1), one(256), one(257), 1);    // 257 is no bfloat16
    add(one(1), one(2048), one(2049), 1);  // and 2049 no float16
    add(matrix({{1, 0}, {0, 1}}), matrix({{1, 2}}), matrix({{2, 4}}), 2.5);
  }
  for (int i = 0; i < 4; ++i) {
    cases.push_back(draw_model(random(), dtypes()[i % 2], 1 + i / 2));
  }
  const auto got = subject().observe("pass_once", cases);
  const auto want = reference().observe("pass_once", cases);
  size_t i = 0;
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got, Word("loss_dtype", "float32"));
    // By hand: exact in half, and then two or three float32 operations. Drawn: as the output is.
    const auto rule = i < worked.size()
                          ? CloseTo({torch::tensor(static_cast<float>(worked[i]))},
                                    {.absolute = 0, .relative = 1e-5})
                          : close_in_half(run.want.tensors("value_of_the_loss"), kSquareOfOutputs);
    ++i;
    EXPECT_THAT(run.got, Tensors("value_of_the_loss", rule));
  }
}

TEST_F(Autocast, task1_the_loss_leads_back_to_the_weights) {
  std::vector<Case> cases;
  for (const auto& dtype : dtypes()) {
    cases.push_back(one_layer(dtype, one(1), one(3), one(1)));
    for (int i = 0; i < 2; ++i) cases.push_back(draw_model(random(), dtype, 1 + i));
  }
  const auto got = subject().observe("pass_and_backward", cases);
  const auto want = reference().observe("pass_and_backward", cases);
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got, Word("backward", "done"));
    EXPECT_THAT(run.got, Tensors("gradients", close_in_half(run.want.tensors("gradients"),
                                                            largest_weight(run.in))));
    EXPECT_THAT(run.got,
                Tensors("parameters", BitEqualTo(run.want.tensors("parameters"), "unchanged")));
  }
}

TEST_F(Autocast, task1_the_state_is_left_as_found) {
  auto callers = callers_outside();
  callers.insert(callers.end(),
                 {"in a float16 region", "in a bfloat16 region", "in two float16 regions",
                  "in a disabled float16 region", "in a float16 region with the cache off"});
  std::vector<Case> cases;
  for (const auto& caller : callers) {
    for (const auto& dtype : dtypes()) {
      cases.push_back(one_layer(dtype, one(1), one(2), one(1)).word("caller", caller));
    }
  }
  const auto got = subject().observe("pass_once", cases);
  const auto want = reference().observe("pass_once", cases);
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got, Word("state_afterwards", run.want.word("state_afterwards")));
  }
}

TEST_F(Autocast, task1_a_model_that_throws_leaves_the_state) {
  std::vector<Case> cases;
  for (const auto* caller : {"outside every region", "in a float16 region"}) {
    for (const auto* kind : {"std::out_of_range", "a number"}) {
      cases.push_back(one_layer("bfloat16", one(1), one(2), one(1))
                          .word("caller", caller)
                          .word("throws", kind));
    }
  }
  const auto got = subject().observe("pass_that_throws", cases);
  const auto want = reference().observe("pass_that_throws", cases);
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got, Word("exception_that_comes_out", "the one that was thrown"));
    EXPECT_THAT(run.got, Word("state_afterwards", run.want.word("state_afterwards")));
  }
}

TEST_F(Autocast, task1_a_region_within_a_region) {
  const std::vector<std::pair<const char*, const char*>> nested{
      {"in a float16 region", "bfloat16"},
      {"in a bfloat16 region", "float16"},
      {"in two float16 regions", "bfloat16"},
      {"in a float16 region", "float16"},
      {"in a disabled float16 region", "bfloat16"},
      {"in a float16 region with the cache off", "bfloat16"},
  };
  std::vector<Case> cases;
  for (const auto& [caller, dtype] : nested) {
    cases.push_back(one_layer(dtype, one(2), one(3), one(1)).word("caller", caller));
    cases.push_back(draw_model(random(), dtype, 2).word("caller", caller));
  }
  const auto got = subject().observe("pass_between_others", cases);
  const auto want = reference().observe("pass_between_others", cases);
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got, NoError());
    EXPECT_THAT(run.got, Word("output_dtype", run.in.word("dtype")));
    const auto* next = "dtype_of_the_callers_next_pass";
    EXPECT_THAT(run.got, Word(next, run.want.word(next)));
  }
}

TEST_F(Autocast, task1_evaluation_without_gradients) {
  std::vector<Case> cases;
  for (const auto& dtype : dtypes()) {
    cases.push_back(one_layer(dtype, one(1), one(3), one(1)));
    cases.push_back(draw_model(random(), dtype, 2));
  }
  for (auto& in : cases) in.word("caller", "outside, without gradients");
  const auto got = subject().observe("pass_without_gradients", cases);
  const auto want = reference().observe("pass_without_gradients", cases);
  for (const auto& run : together(cases, got, want)) {
    EXPECT_THAT(run.got, Flag("evaluation_needs_a_gradient", false));
    EXPECT_THAT(run.got, Word("backward", "done"));
    EXPECT_THAT(run.got, Tensors("gradients", close_in_half(run.want.tensors("gradients"),
                                                            largest_weight(run.in))));
  }
}

}  // namespace
