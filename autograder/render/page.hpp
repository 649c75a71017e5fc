// What the HTML pages have in common: templates, and student text that cannot act in a page.
#pragma once

#include <filesystem>
#include <kainjow/mustache.hpp>
#include <string>
#include <string_view>

#include "record/record.hpp"

namespace gradlab::render {

using Data = kainjow::mustache::data;

// Text for {{…}}, which escapes it for HTML; control characters are made visible first.
Data text(std::string_view value);
Data lines(std::string_view value);                        // keeps new lines
Data text_or_none(std::string_view value);                 // false for "": the section is left out
Data list_or_none(const std::vector<std::string>& items);  // {items: […]}, false for none

std::string kind_of(Verdict verdict);               // the style's word: "good", "bad", "wait"
std::string page_name(const std::string& student);  // "ada.html", as a file
std::string page_link(const std::string& student);  // the same, as part of a link
std::string grader_text(const record::Grader& grader);

class Template {
 public:
  // Throws RenderError when FOLDER/NAME is missing or is no template.
  Template(const std::filesystem::path& folder, const std::string& name);
  std::string render(const Data& data);

 private:
  std::string name_;
  kainjow::mustache::mustache template_;
};

std::string read_asset(const std::filesystem::path& path);  // throws RenderError

}  // namespace gradlab::render
