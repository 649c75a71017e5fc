// What the compile tests share: a toolchain, and two labs to compile for. `tiny` has one function
// and no LibTorch, so that its precompiled header takes a second; `clipping` is the real one.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "compile/compile.hpp"
#include "compile/precompiled.hpp"
#include "temp_folder.hpp"

namespace gradlab::compile {

namespace fs = std::filesystem;
using gradlab::testing::TempFolder;
using sandbox::Isolation;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

inline std::string repository() {
  const char* root = std::getenv("GRADLAB_ROOT");
  return root != nullptr ? root : "";
}

// The tree's own toolchain, with cache and tables elsewhere. Throws CompileError where nothing is
// set up.
inline Toolchain toolchain_in(const fs::path& folder) {
  Toolchain toolchain = read_toolchain(repository());
  toolchain.cache = (folder / "cache").string();
  toolchain.tables = (folder / "tables").string();
  return toolchain;
}

inline Toolchain with_gcc(Toolchain toolchain) {
  toolchain.compiler = "/usr/bin/g++";
  toolchain.compiler_version = "g++";
  toolchain.clang = false;
  return toolchain;
}

// A lab of one function, `int tiny::twice(int)`, in a folder of its own.
class TinyLab {
 public:
  TinyLab() : toolchain(toolchain_in(folder_.path())) {
    fs::permissions(folder_.path(), fs::perms(0755));
    lab.slug = "tiny";
    lab.hand_in = {"tiny.cpp"};
    lab.forbidden_names = {"secret_word"};
    lab.forbidden_headers = {"torch/csrc/api/include/torch/jit.h"};
    lab.directory = folder_.path() / "tiny";
    folder_.write("tiny/tiny.hpp", "#pragma once\nnamespace tiny {\nint twice(int x);\n}\n");
    const auto table = folder_.write("table.cpp",
                                     "namespace tiny { [[gnu::weak]] int twice(int); }\n"
                                     "extern \"C\" void gradlab_fill_table(void* table) {\n"
                                     "  *static_cast<int (**)(int)>(table) = tiny::twice;\n}\n");
    fs::create_directories(toolchain.tables);
    sandbox::Command command;
    command.argv = {toolchain.compiler, "-c", "-fPIC",
                    table.string(),     "-o", toolchain.tables + "/tiny.o"};
    if (run(command, Isolation::kNone).code != 0) throw std::runtime_error("no table for tiny");
  }
  const fs::path& path() const { return folder_.path(); }

 private:
  TempFolder folder_;

 public:
  manifest::Manifest lab;
  Toolchain toolchain;
};

// Of the whole program, so that its headers are built once.
inline TinyLab& tiny() {
  static TinyLab lab;
  return lab;
}

// One hand-in, compiled in a folder that lives as long as this.
struct Built {
  TempFolder folder;
  Compiled compiled;

  const Diagnostic& error(size_t i = 0) const {
    static const Diagnostic none;
    return i < compiled.diagnostics.size() ? compiled.diagnostics[i] : none;
  }
  std::string hints() const {
    std::string all;
    for (const Diagnostic& each : compiled.diagnostics) all += each.hint + "\n";
    return all;
  }
};

inline std::unique_ptr<Built> build(const Compiler& compiler, const manifest::Manifest& lab,
                                    const std::string& source) {
  auto built = std::make_unique<Built>();
  const auto file = built->folder.write("from/hand-in", source);
  fs::create_directories(built->folder.path() / "out");
  built->compiled = compiler.compile(lab, file.string(), (built->folder.path() / "out").string());
  return built;
}

// A tree of its own, with a LibTorch of one header, so that everything in it may be changed.
class OwnTree : public ::testing::Test {
 protected:
  OwnTree() {
    fs::permissions(folder_.path(), fs::perms(0755));
    folder_.write("torch/include/torch/types.h", "#pragma once\nstruct Torch { int x = 1; };\n");
    folder_.write("labs/common/gradlab/todo.hpp", "#pragma once\n");
    folder_.write("autograder/compile/instantiate/types.hpp", "");
    const std::string exports = "autograder/compile/exports.map";
    folder_.write(exports, gradlab::testing::read_text(repository() + "/" + exports));
    tools_.root = folder_.path();
    tools_.torch = folder_.path() / "torch";
    lab_.precompiled = {"torch/types.h"};
    lab_.forbidden_headers = {"torch/types_forbidden.h"};
    lab_.directory = folder_.path() / "labs/tiny";
    folder_.write("labs/tiny/tiny.hpp", "#pragma once\nnamespace tiny {\nint twice(int x);\n}\n");
    tools_.cache = folder_.path() / "cache";
  }

  std::string place() const { return header_folder(tools_, isolation_, lab_); }
  Compiler compiler() const { return {tools_, isolation_}; }
  std::unique_ptr<Built> compile(const std::string& source) {
    Compiler with = compiler();
    with.prepare(lab_);
    return build(with, lab_, source);
  }
  std::string file() const { return place() + "/all.hpp.pch"; }
  ino_t number_of(const std::string& path) const {
    struct stat found{};
    return stat(path.c_str(), &found) == 0 ? found.st_ino : 0;
  }

  TempFolder folder_;
  Toolchain tools_ = tiny().toolchain;
  manifest::Manifest lab_ = tiny().lab;
  Isolation isolation_ = sandbox::probe().best;
};

inline void skip_without(Isolation isolation) {
  if (isolation == Isolation::kFull && sandbox::probe().best != Isolation::kFull) {
    GTEST_SKIP() << sandbox::probe().why_not_full;
  }
}

inline void PrintTo(const Compiled& compiled, std::ostream* out) {
  *out << "outcome " << compiled.outcome << ", " << compiled.note << "\n" << compiled.log;
}

}  // namespace gradlab::compile
