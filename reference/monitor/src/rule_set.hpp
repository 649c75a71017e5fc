// The two rule sets behind one call.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "context.hpp"
#include "loss_value.hpp"
#include "numbers.hpp"
#include "parameter_table.hpp"
#include "precision.hpp"

namespace gradlab::monitor {

// What a check found.
struct Look {
  std::optional<double> norm;  // of all gradients; none where the check was left out
  LayerNorms layers;
  bool skip = false;  // an optimizer will not step
};

class RuleSet {
 public:
  virtual ~RuleSet() = default;
  virtual Look check(const Context& context, const LossValue& loss, const Precision& precision) = 0;
  virtual std::vector<std::pair<std::string, std::string>> alarms() const = 0;
  // Everything learned, by name, out of `numbers` or into it.
  virtual void exchange(Numbers& numbers) = 0;
};

std::unique_ptr<RuleSet> plain_rules(const ParameterTable& table, const Options& options);
std::unique_ptr<RuleSet> better_rules(const ParameterTable& table, const Options& options);

}  // namespace gradlab::monitor
