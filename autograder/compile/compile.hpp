// A hand-in's source file to a shared object, compiled and linked in the sandbox against the lab's
// precompiled header. Knows no checks and runs nothing that it built. No LibTorch.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "manifest/manifest.hpp"
#include "sandbox/sandbox.hpp"

namespace gradlab::compile {

struct Toolchain {
  std::string compiler;          // absolute path of clang++-19, or of g++
  std::string compiler_version;  // first line of --version
  bool clang = true;             // false: g++, the slower fallback
  std::string torch;             // holds include/ and lib/
  std::string torch_version;     // "2.11.0"
  std::string cuda_libs;         // libcudart and libcupti of a CUDA wheel; may be empty
  std::string root;              // of the repository
  std::string tables;            // holds <slug>.o, the export tables; root/build/release/tables
  std::string libraries;         // root/build/release/libraries, shared objects for hand-ins
  std::string cache;             // root/.gradlab/cache/pch
};

enum class CompileErrorKind { kNoToolchain, kBadToolchain, kCache, kPrecompiledHeader, kSandbox };

// A fault of the grader, never of a hand-in.
class CompileError : public std::runtime_error {
 public:
  CompileError(CompileErrorKind kind, const std::string& message)
      : std::runtime_error(message), kind_(kind) {}
  CompileErrorKind kind() const { return kind_; }

 private:
  CompileErrorKind kind_;
};

// Reads root/.gradlab/toolchain and looks whether what it names is there. Throws CompileError.
Toolchain read_toolchain(const std::string& root);

struct Diagnostic {
  std::string file;  // the student's file name, or the last part of another file's path
  int line = 0;      // from 1; 0 where there is none (a message of the linker)
  int column = 0;
  std::string message;
  std::vector<std::string>
      excerpt;       // the source line and the caret line, as the compiler shows them
  std::string hint;  // empty where we know none
};

struct Compiled {
  enum Outcome {
    kOk,
    kCompileError,
    kForbidden,
    kTimeLimit,
    kMemoryLimit,
    kOutputLimit,
    kGraderError
  };
  Outcome outcome = kGraderError;
  std::string library;                  // host path of student.so; empty unless kOk
  std::vector<Diagnostic> diagnostics;  // the first five errors; valid UTF-8 without control bytes
  std::vector<Diagnostic> warnings;     // the first five
  std::string log;                      // at most limits.compile_log_kib; printable like the above
  bool log_cut = false;
  double seconds = 0;  // wall
  double cpu_seconds = 0;
  bool heavy_header = false;  // includes torch/torch.h
  std::string
      note;  // a sentence for the student, e.g. why it was slow; for kGraderError: what broke
};

// Not to be shared between threads while prepare() runs; compile() may run on several at once.
class Compiler {
 public:
  Compiler(Toolchain toolchain, sandbox::Isolation isolation);

  // Is the lab's precompiled header built for this toolchain and isolation?
  bool prepared(const manifest::Manifest& lab) const;
  // Builds it unless it is (clang++: about 10 s). Two processes do not build it twice.
  // Throws CompileError.
  void prepare(const manifest::Manifest& lab);
  // Host path of the shared object with the header's inline functions, which a runner has to load
  // before it opens a hand-in; empty where there is none. REQUIRES: prepare(lab) was called.
  std::string functions(const manifest::Manifest& lab) const;
  // Compiles one file to out_dir/student.so. REQUIRES: prepare(lab) was called; out_dir exists, is
  // empty and belongs to this call alone. Throws CompileError when the grader's own parts are
  // missing. A failure that no line of the file explains is the file's only where the lab's
  // skeleton compiles; else it is kGraderError.
  Compiled compile(const manifest::Manifest& lab, const std::string& source_file,
                   const std::string& out_dir) const;

 private:
  Compiled compile_once(const manifest::Manifest& lab, const std::string& source_file,
                        const std::string& out_dir) const;

  Toolchain toolchain_;
  sandbox::Isolation isolation_;
};

}  // namespace gradlab::compile

namespace gradlab {
using compile::Compiled;
using compile::CompileError;
using compile::Compiler;
using compile::Diagnostic;
using compile::Toolchain;
}  // namespace gradlab
