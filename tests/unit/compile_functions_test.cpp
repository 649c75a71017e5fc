// Labs whose hand-ins are not optimised: the inline functions of their headers are compiled once,
// to a shared object that is loaded before a hand-in.
#include <dlfcn.h>

#include "compile_fixture.hpp"

namespace gradlab::compile {
namespace {

class Functions : public OwnTree {
 protected:
  Functions() {
    lab_.optimised = false;
    folder_.write("torch/include/torch/types.h",
                  "#pragma once\n"
                  "int hidden_in_torch();\n"
                  "int in_torch();\n"
                  "inline int nobody_can_call() { return hidden_in_torch(); }\n"
                  "inline int doubled(int x) { return in_torch() * x; }\n");
    build_torch("libc10.so", "");
    build_torch("libtorch_cpu.so",
                "int in_torch() { return 2; }\n"
                "__attribute__((visibility(\"hidden\"))) int hidden_in_torch() { return 1; }\n");
  }

  void SetUp() override {
    if (!tools_.clang) GTEST_SKIP() << "g++ compiles them into each hand-in";
  }

  void build_torch(const std::string& name, const std::string& source) {
    const auto file = folder_.write(name + ".cpp", source);
    fs::create_directories(folder_.path() / "torch/lib");
    sandbox::Command command;
    command.argv = {tools_.compiler,
                    "-shared",
                    "-fPIC",
                    "-Wl,-soname," + name,
                    file.string(),
                    "-o",
                    folder_.path() / "torch/lib" / name};
    ASSERT_EQ(run(command, Isolation::kNone).code, 0);
  }
};

const std::string kUsesInline =
    "#include \"tiny.hpp\"\n#include <torch/types.h>\n"
    "int tiny::twice(int x) { return doubled(x); }\n";

// As the runner does: LibTorch, the functions, the hand-in.
int answer_of(const std::string& torch, const std::string& functions, const Built& built) {
  const auto open = [](const std::string& path, int how) {
    void* library = dlopen(path.c_str(), how);
    EXPECT_NE(library, nullptr) << dlerror();
    return library;
  };
  open(torch + "/lib/libc10.so", RTLD_NOW | RTLD_GLOBAL);
  open(torch + "/lib/libtorch_cpu.so", RTLD_NOW | RTLD_GLOBAL);
  if (!functions.empty()) open(functions, RTLD_LAZY | RTLD_GLOBAL);
  void* library = open(built.compiled.library, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return -1;
  int (*twice)(int) = nullptr;
  using Fill = void (*)(int (**)(int));
  reinterpret_cast<Fill>(dlsym(library, "gradlab_fill_table"))(&twice);
  return twice == nullptr ? -1 : twice(21);
}

TEST_F(Functions, a_hand_in_calls_them_and_does_not_hold_them) {
  const auto built = compile(kUsesInline);
  ASSERT_EQ(built->compiled.outcome, Compiled::kOk) << ::testing::PrintToString(built->compiled);
  ASSERT_NE(compiler().functions(lab_), "");
  const auto child = fork();
  if (child == 0) {
    // Alone, the hand-in cannot be opened: the function is not in it.
    if (dlopen((tools_.torch + "/lib/libtorch_cpu.so").c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr)
      _exit(2);
    _exit(dlopen(built->compiled.library.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(answer_of(tools_.torch, compiler().functions(lab_), *built), 42);
}

TEST_F(Functions, hand_ins_hold_them_where_they_are_optimised) {
  lab_.optimised = true;
  const auto built = compile(kUsesInline);
  EXPECT_EQ(compiler().functions(lab_), "");
  EXPECT_EQ(answer_of(tools_.torch, "", *built), 42);
}

TEST_F(Functions, hand_ins_hold_them_where_no_shared_object_can_be_made) {
  folder_.write("torch/lib/libc10.so", "no library");
  const auto built = compile(kUsesInline);
  build_torch("libc10.so", "");
  EXPECT_EQ(compiler().functions(lab_), "");
  EXPECT_EQ(answer_of(tools_.torch, "", *built), 42);
}

}  // namespace
}  // namespace gradlab::compile
