#include "pipeline/load_failure.hpp"

#include <cxxabi.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cctype>

namespace gradlab::pipeline {
namespace {

constexpr size_t kLongestMessage = 500;

// A longer name stays as it is: written out, a name can double with every ten characters, and a
// hand-in chooses its names.
constexpr size_t kLongestName = 150;

std::string demangled(const std::string& name) {
  int status = 0;
  char* text = name.size() > kLongestName
                   ? nullptr
                   : abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  const std::string result = text == nullptr ? name : text;
  free(text);
  return result;
}

// "_ZN8clipping…" in the loader's words as C++ names.
std::string demangle_words(const std::string& text) {
  const auto in_name = [&](size_t at) {
    return at < text.size() && (isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_');
  };
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t start = std::min(text.find("_Z", at), text.size());
    size_t end = start;
    while (in_name(end)) ++end;
    out += text.substr(at, start - at) + demangled(text.substr(start, end - start));
    at = end;
  }
  return out;
}

}  // namespace

void refuse_for_load_failure(Record& record, const std::string& why, const Manifest& lab) {
  const auto says = [&](const char* words) { return why.find(words) != std::string::npos; };
  const size_t symbol = why.find("undefined symbol");
  // "failed to map segment from shared object", "cannot allocate memory in static TLS block"
  if (symbol == std::string::npos && (says("map") || says("memory"))) {
    return record::refuse(record, record::Verdict::kMemoryLimit,
                          fmt::format("it needs more than its {} MiB before any task runs: how "
                                      "large are its global arrays?",
                                      lab.limits.memory_mib));
  }
  record::Diagnostic diagnostic;
  diagnostic.file = lab.hand_in.front();
  const std::string said = demangle_words(symbol == std::string::npos ? why : why.substr(symbol));
  diagnostic.message = "cannot be linked: " + said.substr(0, kLongestMessage);
  diagnostic.hint = "A function is declared and called, but defined nowhere.";
  record::refuse(record, record::Verdict::kCompileError, "it does not link", {diagnostic});
}

}  // namespace gradlab::pipeline
