#include "judge/run_check.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>

namespace gradlab {
namespace {

std::string grader_fault;  // what a check threw by itself: our fault, never the student's

class Gatherer : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed() || context().stopped) return;
    const std::string message = result.message();
    if (message.find("C++ exception") != std::string::npos) {
      grader_fault = message.substr(0, message.find('\n'));
      return;
    }
    context().fail(message);
  }
};

// task2_small_norm_is_left_alone -> {small_norm_is_left_alone, 2}; task 0 for another form.
KnownCheck parsed(const std::string& test) {
  const auto underscore = test.find('_');
  if (!test.starts_with("task") || underscore == std::string::npos) return {test, 0};
  return {test.substr(underscore + 1), std::atoi(test.c_str() + 4)};
}

CheckOutcome outcome_of_fault(const CheckContext& in, int task) {
  switch (in.fault) {
    case Fault::kNotStarted: {
      const auto dot = in.fault_task.rfind('.');
      const bool own =
          dot != std::string::npos && in.fault_task.substr(dot + 1) == std::to_string(task);
      if (own) return {"not_started", "", 0};
      return {"blocked", fmt::format("it calls {}, which is not written yet", in.fault_task), 0};
    }
    case Fault::kCrashed:
      return {"crashed", in.fault_detail, 0};
    case Fault::kTimeLimit:
      return {"time_limit", in.fault_detail, 0};
    case Fault::kMemoryLimit:
      return {"memory_limit", in.fault_detail, 0};
    case Fault::kOutputLimit:
      return {"output_limit", in.fault_detail, 0};
    case Fault::kForged:
      return {"forged", in.fault_detail, 0};
    case Fault::kNone:
      break;
  }
  return {"grader_error", "an outcome without a fault", 0};
}

}  // namespace

void prepare_gtest() {
  int argc = 1;
  char name[] = "judge";
  char* argv[] = {name, nullptr};
  testing::InitGoogleMock(&argc, argv);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new Gatherer);
}

std::vector<KnownCheck> known_checks() {
  std::vector<KnownCheck> names;
  const auto& all = *testing::UnitTest::GetInstance();
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    const auto& suite = *all.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      names.push_back(parsed(suite.GetTestInfo(t)->name()));
    }
  }
  return names;
}

CheckOutcome run_check(CheckContext& in, const std::string& check, int task) {
  const auto started = std::chrono::steady_clock::now();
  in.begin(check);
  set_context(&in);
  grader_fault.clear();
  testing::GTEST_FLAG(filter) = fmt::format("*.task{}_{}", task, check);
  // GoogleTest runs again and again in one process as long as it starts no death tests.
  static_cast<void>(RUN_ALL_TESTS());
  const auto& unit = *testing::UnitTest::GetInstance();
  CheckOutcome outcome;
  if (unit.test_to_run_count() != 1) {
    outcome = {"grader_error", fmt::format("the judge has no check task{}_{}", task, check), 0};
  } else if (!grader_fault.empty()) {
    outcome = {"grader_error", "the check itself failed: " + grader_fault, 0};
  } else if (in.fault != Fault::kNone) {
    outcome = outcome_of_fault(in, task);
  } else if (!in.failures.empty()) {
    outcome = {"fail", "", 0};
  } else {
    outcome = {"pass", "", 0};
  }
  outcome.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return outcome;
}

}  // namespace gradlab
