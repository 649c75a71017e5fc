#include "compile/outcome.hpp"

#include <csignal>
#include <string_view>

#include "compile/diagnostics.hpp"
#include "compile/errors.hpp"

namespace gradlab::compile {
namespace {

// At the start of a line, so that a hand-in cannot say it in the middle of an error.
bool has_line(const std::string& log, std::string_view start) {
  for (std::size_t at = 0; at != std::string::npos; at = log.find('\n', at)) {
    if (at > 0) ++at;
    if (log.compare(at, start.size(), start) == 0) return true;
  }
  return false;
}

bool out_of_memory(const std::string& log) {
  for (const std::string_view start :
       {"LLVM ERROR: out of memory",
        "terminate called after throwing an instance of 'std::bad_alloc'", "cc1plus: out of memory",
        "virtual memory exhausted", "mold: fatal: mmap", "mold: mmap"}) {
    if (has_line(log, start)) return true;
  }
  return false;
}

// The kernel kills g++'s second program, and g++ tells that as an error.
bool killed_by_clock(const sandbox::Result& result, const manifest::Manifest& lab) {
  return result.cpu_seconds >= 0.5 * lab.limits.compile_cpu_seconds &&
         result.output.find("Killed signal terminated program cc1plus") != std::string::npos;
}

// By SIGKILL, and not for its time: no hand-in can do that to its compiler, whose own limit of
// memory ends it otherwise. The machine ran out of memory.
bool killed_by_machine(const sandbox::Result& result) {
  return result.ending == sandbox::Ending::kSignalled && result.code == SIGKILL;
}

bool is_forbidden(const Diagnostic& error) {
  for (const char* words :
       {"this lab asks you to write it", "poisoned identifier", "use poisoned"}) {
    if (error.message.find(words) != std::string::npos) return true;
  }
  return false;
}

// 'clip_grad_norm_' is unavailable: ...; "poisoned identifier" names nothing: then the line does.
std::string forbidden_name(const Diagnostic& error, const manifest::Manifest& lab) {
  const std::size_t open = error.message.find('\'');
  const std::size_t close = error.message.find('\'', open + 1);
  if (open != std::string::npos && close != std::string::npos) {
    return error.message.substr(open + 1, close - open - 1);
  }
  for (const std::string& name : lab.forbidden_names) {
    for (const std::string& line : error.excerpt) {
      if (line.find(name) != std::string::npos) return name;
    }
  }
  for (const std::string& header : lab.forbidden_headers) {
    if (error.message.find(header) != std::string::npos) return header;
  }
  return "a name";
}

void look_at_errors(Compiled& compiled, const sandbox::Result& result,
                    const manifest::Manifest& lab, const std::string& student_file) {
  compiled.outcome = Compiled::kCompileError;
  for (const Diagnostic& error : compiled.diagnostics) {
    if (!is_forbidden(error)) continue;
    compiled.outcome = Compiled::kForbidden;
    compiled.note = errors::forbidden(forbidden_name(error, lab), error.line);
    return;
  }
  if (!compiled.diagnostics.empty()) return;
  const bool crashed = result.ending == sandbox::Ending::kSignalled ||
                       compiled.log.find("PLEASE submit a bug report") != std::string::npos;
  Diagnostic only;
  only.file = student_file;
  only.message =
      crashed ? errors::compiler_crashed() : compiled.log.substr(0, compiled.log.find('\n'));
  compiled.diagnostics.push_back(only);
}

}  // namespace

void judge_outcome(Compiled& compiled, const sandbox::Result& result, const manifest::Manifest& lab,
                   const std::string& student_file, bool made) {
  const std::string all = printable(result.output);
  const std::size_t kept = static_cast<std::size_t>(lab.limits.compile_log_kib) * 1024;
  compiled.log_cut = result.output_cut || all.size() > kept;
  compiled.log = printable(all.substr(0, kept));  // again: the cut may have hit a character
  Messages messages = parse_messages(all, student_file);
  compiled.diagnostics = std::move(messages.errors);
  compiled.warnings = std::move(messages.warnings);
  compiled.cpu_seconds = result.cpu_seconds;

  using sandbox::Ending;
  if (result.ending == Ending::kNotStarted) {
    compiled.outcome = Compiled::kGraderError;
    compiled.note = errors::grader_fault(result.why);
  } else if (result.ending == Ending::kTimeLimit || killed_by_clock(result, lab)) {
    compiled.outcome = Compiled::kTimeLimit;
    compiled.note = errors::out_of_time(lab.limits.compile_cpu_seconds);
  } else if (result.ending == Ending::kOutputLimit) {
    compiled.outcome = Compiled::kOutputLimit;
    compiled.note = errors::too_much_output();
  } else if (result.ending == Ending::kExited && result.code == 0) {
    compiled.outcome = made ? Compiled::kOk : Compiled::kGraderError;
    if (!made) compiled.note = errors::grader_fault("the linker made no file");
  } else if (killed_by_machine(result)) {
    compiled.outcome = Compiled::kGraderError;
    compiled.note = errors::killed_by_machine();
  } else if (out_of_memory(all)) {
    compiled.outcome = Compiled::kMemoryLimit;
    compiled.note = errors::out_of_memory(lab.limits.compile_memory_mib);
  } else {
    look_at_errors(compiled, result, lab, student_file);
  }
}

std::string heavy_header_in(const std::string& source) {
  for (const char* header : {"torch/torch.h", "torch/all.h", "torch/extension.h", "torch/nn.h",
                             "torch/optim.h", "torch/data.h"}) {
    for (const char open : {'<', '"'}) {
      const std::size_t at = source.find(open + std::string(header));
      if (at == std::string::npos) continue;
      const std::size_t line = source.rfind('\n', at) + 1;  // npos + 1 is 0
      const std::string before = source.substr(line, at - line);
      const std::size_t hash = before.find_first_not_of(" \t");
      if (hash != std::string::npos && before[hash] == '#' &&
          before.find("include", hash) != std::string::npos) {
        return header;
      }
    }
  }
  return {};
}

bool blames_header(const std::string& log) {
  for (const char* words : {"has been modified since the precompiled header", "PCH file",
                            "precompiled file", "malformed or corrupted AST file",
                            "malformed block record in", "not a valid precompiled"}) {
    if (log.find(words) != std::string::npos) return true;
  }
  return false;
}

}  // namespace gradlab::compile
