#include "drills/anki.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "drills/text.hpp"

namespace gradlab::drills {
namespace {

std::string code_html(const Question& question) {
  if (question.code.empty()) return "";
  std::string lines;
  for (std::size_t i = 0; i < question.code.size(); ++i) {
    if (i > 0) lines += "<br>";
    if (question.kind == Kind::kBug) lines += fmt::format("{:>3}  ", i + 1);
    lines += html_text(question.code[i]);
  }
  return fmt::format("<pre style=\"text-align:left\">{}</pre>", lines);
}

std::string list_html(const std::vector<std::string>& items) {
  std::string out;
  for (const auto& item : items) out += fmt::format("<li>{}</li>", html_text(item));
  return out.empty() ? "" : fmt::format("<ol style=\"text-align:left\">{}</ol>", out);
}

std::vector<std::string> items_of(const Question& question) {
  if (const auto* order = std::get_if<Order>(&question.answer)) return order->items;
  std::vector<std::string> items;
  const auto* choices = std::get_if<Choices>(&question.answer);
  if (choices == nullptr || !choices->listed) return items;
  for (const auto& option : choices->options) items.push_back(option.text);
  return items;
}

std::string front(const Question& question) {
  return fmt::format("{}{}{}<br><i>{}</i>", html_text(question.text), code_html(question),
                     list_html(items_of(question)), html_text(form_of(question)));
}

std::string values_html(const std::vector<double>& values) {
  return html_text(values.size() == 1 ? number(values.front()) : shown(values));
}

std::string answer_html(const Question& question) {
  const auto* numbers = std::get_if<Numbers>(&question.answer);
  return numbers != nullptr ? values_html(numbers->values) : html_text(answer_of(question));
}

std::string back(const Question& question) {
  std::string out = "<b>" + answer_html(question) + "</b>";
  if (!question.why.empty()) out += "<br>" + html_text(question.why);
  std::string misses;
  for (const auto& miss : question.misses) {
    misses += fmt::format("<li>{}: {}</li>", values_html(miss.values), html_text(miss.mistake));
  }
  if (!misses.empty()) out += fmt::format("<br>Near misses:<ul>{}</ul>", misses);
  return out;
}

}  // namespace

std::string anki_text(const std::vector<Question>& questions) {
  std::string out =
      "#separator:tab\n#html:true\n#notetype:Basic\n#deck:gradlab\n"
      "#columns:id\tFront\tBack\tTags\n#guid column:1\n#tags column:4\n";
  std::map<std::string, int> numbers;
  for (const auto& question : questions) {
    const int number = ++numbers[question.name];
    std::string tag = html_text(question.topic);
    std::replace(tag.begin(), tag.end(), ' ', '_');  // a blank would end the tag
    out += fmt::format("gradlab.{}.{}\t{}\t{}\tgradlab gradlab::{}\n", html_text(question.name),
                       number, front(question), back(question), tag);
  }
  return out;
}

}  // namespace gradlab::drills
