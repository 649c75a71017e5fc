#include "render/page.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "record/store.hpp"
#include "render/report.hpp"
#include "render/terminal.hpp"
#include "render/words.hpp"

namespace gradlab::render {
namespace {

RenderError missing(const std::filesystem::path& path, const std::string& why) {
  return RenderError(fmt::format(
      "{}: cannot be read ({}); it belongs to gradlab, restore it and run the same command again",
      path.string(), why));
}

RenderError broken(const std::string& name, const std::string& why) {
  return RenderError(fmt::format(
      "autograder/render/templates/{}: is no template ({}); mend it or restore it", name, why));
}

}  // namespace

Data text(std::string_view value) { return Data(printable(value)); }

Data lines(std::string_view value) { return Data(printable(value, Lines::kMany)); }

Data text_or_none(std::string_view value) { return value.empty() ? Data(false) : text(value); }

Data list_or_none(const std::vector<std::string>& items) {
  if (items.empty()) return Data(false);
  Data list(Data::type::list);
  for (const std::string& item : items) list << text(item);
  return Data("items", list);
}

std::string kind_of(Verdict verdict) {
  if (verdict == Verdict::kPass) return "good";
  return is_failed(verdict) ? "bad" : "wait";
}

std::string page_name(const std::string& student) { return record::file_stem(student) + ".html"; }

std::string page_link(const std::string& student) {
  std::string link;
  for (const char c : page_name(student)) link += c == '%' ? std::string("%25") : std::string(1, c);
  return link;
}

std::string grader_text(const record::Grader& grader) {
  std::string text = fmt::format("gradlab {}, LibTorch {}", grader.version, grader.torch);
  // Not known where no runner came to say it.
  for (const std::string& part : {grader.cpu_capability, grader.compiler}) {
    if (!part.empty()) text += ", " + part;
  }
  return text + ".";
}

std::string read_asset(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw missing(path, std::strerror(errno));
  return {std::istreambuf_iterator<char>(file), {}};
}

Template::Template(const std::filesystem::path& folder, const std::string& name)
    : name_(name), template_(read_asset(folder / name)) {
  if (!template_.is_valid()) throw broken(name_, template_.error_message());
}

std::string Template::render(const Data& data) {
  std::string page = template_.render(data);
  if (!template_.is_valid()) throw broken(name_, template_.error_message());
  return page;
}

}  // namespace gradlab::render
