#include "drills/templates.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "drills/check.hpp"

namespace gradlab::drills {
namespace {

std::vector<Template> collected() {
  std::vector<Template> all;
  for (auto* part :
       {templates::clipping_norms, templates::clipping_places, templates::dtypes,
        templates::scaling_values, templates::scaling_counts, templates::scaling_updates,
        templates::step_orders, templates::bugs, templates::predictions, templates::logs,
        templates::log_causes, templates::resumes}) {
    for (auto& each : part()) all.push_back(std::move(each));
  }
  return all;
}

}  // namespace

const std::vector<Template>& built_in_templates() {
  static const std::vector<Template> all = collected();
  return all;
}

void shuffle(Question& question, Random& random) {
  auto* choices = std::get_if<Choices>(&question.answer);
  if (choices == nullptr || !choices->listed) return;
  const std::string right = choices->options[choices->right].text;
  random.shuffle(choices->options);
  while (choices->options[choices->right].text != right) {
    choices->right = (choices->right + 1) % choices->options.size();
  }
}

Question make(const Template& from, std::uint64_t seed) {
  for (std::uint64_t attempt = 0; attempt < 1000; ++attempt) {
    Random random(seed_of(seed, from.name, attempt));
    Question question = from.draw(random);
    if (!is_sharp(question)) continue;
    shuffle(question, random);
    question.name = from.name;
    question.topic = from.topic;
    question.kind = from.kind;
    if (question.read.empty()) question.read = fmt::format("handouts/{}.md", from.topic);
    return question;
  }
  throw std::logic_error(fmt::format("{} draws no question whose mistakes differ", from.name));
}

}  // namespace gradlab::drills
