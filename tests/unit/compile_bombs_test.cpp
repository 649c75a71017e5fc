// Files that would keep a compiler busy for ever: each ends within its limits, in the outcome that
// names the cause.
#include <chrono>

#include "compile_fixture.hpp"

namespace gradlab::compile {
namespace {

struct Way {
  Isolation isolation;
  bool clang;
};

class Bomb : public ::testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    skip_without(GetParam().isolation);
    if (!GetParam().clang && access("/usr/bin/g++", X_OK) != 0) GTEST_SKIP() << "no g++";
  }

  std::unique_ptr<Built> compile(const std::string& source, double cpu_seconds = 20,
                                 int memory_mib = 1536) {
    manifest::Manifest lab = tiny().lab;
    lab.limits.compile_cpu_seconds = cpu_seconds;
    lab.limits.compile_memory_mib = memory_mib;
    const Toolchain& toolchain = tiny().toolchain;
    Compiler compiler(GetParam().clang ? toolchain : with_gcc(toolchain), GetParam().isolation);
    compiler.prepare(lab);
    return build(compiler, lab, source);
  }
};

INSTANTIATE_TEST_SUITE_P(Ways, Bomb,
                         ::testing::Values(Way{Isolation::kFull, true}, Way{Isolation::kNone, true},
                                           Way{Isolation::kFull, false}),
                         [](const auto& param) {
                           return to_string(param.param.isolation) +
                                  (param.param.clang ? "_clang" : "_gcc");
                         });

// Twice as many types at each depth.
const std::string kTree =
    "template <class T, class U> struct Pair {};\n"
    "template <int n, class T> struct Tree {\n"
    "  Tree<n - 1, Pair<T, int>> left;\n  Tree<n - 1, Pair<T, char>> right;\n};\n"
    "template <class T> struct Tree<0, T> {};\n"
    "Tree<40, int> tree;\n";

TEST_P(Bomb, time) {
  const auto built = compile(kTree, 1, 4096);
  EXPECT_EQ(built->compiled.outcome, Compiled::kTimeLimit)
      << ::testing::PrintToString(built->compiled);
  EXPECT_THAT(built->compiled.note, HasSubstr("ran out of its 1 s"));
  EXPECT_LT(built->compiled.cpu_seconds, 3);
}

TEST_P(Bomb, memory) {
  const auto built = compile(kTree, 60, 450);
  EXPECT_EQ(built->compiled.outcome, Compiled::kMemoryLimit)
      << ::testing::PrintToString(built->compiled);
  EXPECT_THAT(built->compiled.note, HasSubstr("450 MiB"));
  EXPECT_EQ(compile("int x;\n", 60, 450)->compiled.outcome, Compiled::kOk);  // so it was the bomb
}

TEST_P(Bomb, output) {
  std::string source;
  for (int i = 0; i < 30000; ++i) source += "#warning " + std::string(60, 'x') + "\n";
  const auto built = compile(source);
  EXPECT_EQ(built->compiled.outcome, Compiled::kOutputLimit) << built->compiled.log.substr(0, 500);
  EXPECT_TRUE(built->compiled.log_cut);
  EXPECT_LE(built->compiled.log.size(), 64u * 1024);
  EXPECT_EQ(built->compiled.warnings.size(), 5u);
}

TEST_P(Bomb, ends_as_an_ordinary_error) {
  struct File {
    const char* what;
    std::string source;
    const char* says;
  };
  const File files[] = {
      {"constexpr",
       "constexpr int f() { int i = 0; while (true) i ^= 1; return i; }\nconstexpr int x = f();\n",
       "constant"},
      {"recursion", "template <int n> struct A : A<n + 1> {};\nA<0> a;\n", "depth"},
      {"includes itself", "#include __FILE__\n", "too deeply"},
      {"array", "char big[1L << 62];\nint x = sizeof(big[0][0]);\n", ""},
  };
  for (const File& file : files) {
    const auto start = std::chrono::steady_clock::now();
    const auto built = compile(file.source);
    EXPECT_EQ(built->compiled.outcome, Compiled::kCompileError)
        << file.what << ::testing::PrintToString(built->compiled);
    // In clang's words.
    if (GetParam().clang) EXPECT_THAT(built->error().message, HasSubstr(file.says)) << file.what;
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20)) << file.what;
  }
}

TEST_P(Bomb, deep_nesting_is_the_students_error_and_no_fault_of_the_grader) {
  const std::string deep(200000, '(');
  const auto built = compile("int x = " + deep + "1" + std::string(200000, ')') + ";\n", 5);
  if (GetParam().clang) {
    EXPECT_EQ(built->compiled.outcome, Compiled::kCompileError);
    ASSERT_FALSE(built->compiled.diagnostics.empty());
    EXPECT_LT(built->error().message.size(), 300u);
  } else {
    EXPECT_EQ(built->compiled.outcome, Compiled::kTimeLimit);  // g++ goes on until it is stopped
  }
}

TEST_P(Bomb, a_huge_object_is_stopped) {
  // 96 MiB of data, where a file may have 64 MiB.
  const auto built = compile("char data[96 << 20] = {1};\n");
  EXPECT_NE(built->compiled.outcome, Compiled::kOk);
  EXPECT_NE(built->compiled.outcome, Compiled::kGraderError);
  EXPECT_FALSE(fs::exists(built->folder.path() / "out/student.o"));
}

}  // namespace
}  // namespace gradlab::compile
