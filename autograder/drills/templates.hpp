// All templates: each draws a question from a seed and computes its answer.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "drills/question.hpp"
#include "drills/random.hpp"

namespace gradlab::drills {

struct Template {
  std::string name;   // "clipping.factor", unique
  std::string topic;  // a lab's slug
  Kind kind;
  std::function<Question(Random&)> draw;  // leaves name, topic and kind to make()
};

// By topic, in the order of the course.
const std::vector<Template>& built_in_templates();

// The same question for the same seed. Draws until it is sharp (check.hpp).
Question make(const Template& from, std::uint64_t seed);

namespace templates {

std::vector<Template> clipping_norms();
std::vector<Template> clipping_places();
std::vector<Template> scaling_values();
std::vector<Template> scaling_counts();
std::vector<Template> scaling_updates();
std::vector<Template> step_orders();
std::vector<Template> bugs();
std::vector<Template> dtypes();
std::vector<Template> logs();
std::vector<Template> log_causes();
std::vector<Template> predictions();
std::vector<Template> resumes();

}  // namespace templates
// The right option comes first from whoever writes a question; here it gets its place.
void shuffle(Question& question, Random& random);

}  // namespace gradlab::drills
