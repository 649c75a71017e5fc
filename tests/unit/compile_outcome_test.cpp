// Whose fault it is that a compile ended: the hand-in's, or the machine's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "compile/outcome.hpp"

namespace gradlab::compile {
namespace {

using ::testing::HasSubstr;

Compiled outcome_of(const sandbox::Result& result) {
  manifest::Manifest lab;
  lab.limits.compile_log_kib = 64;
  Compiled compiled;
  judge_outcome(compiled, result, lab, "a.cpp", false);
  return compiled;
}

sandbox::Result ended_by(int signal, const std::string& said) {
  sandbox::Result result;
  result.ending = sandbox::Ending::kSignalled;
  result.code = signal;
  result.output = said;
  return result;
}

TEST(Outcome, a_compiler_that_the_machine_killed_is_no_fault_of_the_hand_in) {
  const Compiled compiled = outcome_of(ended_by(SIGKILL, "Killed\n"));
  EXPECT_EQ(compiled.outcome, Compiled::kGraderError);
  EXPECT_THAT(compiled.note, HasSubstr("fewer --jobs"));
}

TEST(Outcome, a_compiler_that_crashed_on_the_hand_in_is) {
  EXPECT_EQ(outcome_of(ended_by(SIGSEGV, "")).outcome, Compiled::kCompileError);
  EXPECT_EQ(outcome_of(ended_by(SIGABRT, "LLVM ERROR: out of memory\n")).outcome,
            Compiled::kMemoryLimit);
}

}  // namespace
}  // namespace gradlab::compile
