#include "judge/diagnosis.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "judge/subject.hpp"

namespace gradlab {
namespace {

double relative_tolerance(torch::ScalarType dtype, int64_t count) {
  const double n = static_cast<double>(count);
  switch (dtype) {
    case torch::kFloat64:
      return std::max(1e-9, n * 0x1p-52);
    case torch::kFloat32:
      return std::max(1e-5, n * 0x1p-25);
    case torch::kFloat16:
      return 4e-3;
    case torch::kBFloat16:
      return 3e-2;
    default:
      return 0;
  }
}

bool near(double a, double b, double relative) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= relative * std::max(std::abs(a), std::abs(b));
}

bool alike(const torch::Tensor& a, const torch::Tensor& b) {
  if (a.defined() != b.defined()) return false;
  if (!a.defined()) return true;
  if (a.sizes() != b.sizes() || a.scalar_type() != b.scalar_type()) return false;
  const double relative = relative_tolerance(a.scalar_type(), a.numel());
  const auto left = a.detach().to(torch::kFloat64).contiguous();
  const auto right = b.detach().to(torch::kFloat64).contiguous();
  const double* l = left.const_data_ptr<double>();
  const double* r = right.const_data_ptr<double>();
  for (int64_t i = 0; i < left.numel(); ++i) {
    if (!near(l[i], r[i], relative)) return false;
  }
  return true;
}

// The type in front of the message is compared, the message is not: words differ freely.
std::string thrown_type(const std::string& threw) { return threw.substr(0, threw.find(": ")); }

bool reproduces(const KnownBug& bug, const FailedCheck& failed) {
  const auto subject = subject_in_child(bug.impl);
  for (const auto& asked : failed.asked) {
    const auto seen = subject->observe(asked.experiment, asked.cases);
    for (size_t i = 0; i < seen.size(); ++i) {
      if (!alike(seen[i], asked.got[i])) return false;
    }
  }
  return true;
}

// How unlike the bug's own failing checks are to the failed ones: the size of the difference.
size_t unlike(const KnownBug& bug, const std::set<std::string>& failed) {
  const std::set<std::string> own(bug.caught_by.begin(), bug.caught_by.end());
  std::vector<std::string> difference;
  std::set_symmetric_difference(own.begin(), own.end(), failed.begin(), failed.end(),
                                std::back_inserter(difference));
  return difference.size();
}

}  // namespace

bool alike(const Observation& a, const Observation& b) {
  if (a.fault != b.fault || thrown_type(a.threw) != thrown_type(b.threw)) return false;
  if (a.all_words() != b.all_words()) {
    // "what" is a message in the student's own words.
    auto left = a.all_words();
    auto right = b.all_words();
    left.erase("what");
    right.erase("what");
    if (left != right) return false;
  }
  int64_t count = 1;
  bool wide = true;
  if (a.all_tensors().size() != b.all_tensors().size()) return false;
  for (const auto& [name, list] : a.all_tensors()) {
    const auto other = b.all_tensors().find(name);
    if (other == b.all_tensors().end() || other->second.size() != list.size()) return false;
    for (size_t i = 0; i < list.size(); ++i) {
      if (!alike(list[i], other->second[i])) return false;
      if (!list[i].defined()) continue;
      count += list[i].numel();
      wide = wide && list[i].scalar_type() == torch::kFloat64;
    }
  }
  if (a.all_numbers().size() != b.all_numbers().size()) return false;
  const double relative = relative_tolerance(wide ? torch::kFloat64 : torch::kFloat32, count);
  for (const auto& [name, value] : a.all_numbers()) {
    const auto other = b.all_numbers().find(name);
    if (other == b.all_numbers().end() || !near(value, other->second, relative)) return false;
  }
  return true;
}

std::vector<Diagnosis> diagnose(const std::vector<FailedCheck>& failed, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  std::set<std::string> names;
  for (const auto& check : failed) names.insert(check.name);
  std::vector<const KnownBug*> bugs;
  for (const auto& bug : implementations().bugs) bugs.push_back(&bug);
  std::stable_sort(bugs.begin(), bugs.end(), [&](const KnownBug* a, const KnownBug* b) {
    return unlike(*a, names) < unlike(*b, names);
  });
  std::vector<Diagnosis> found;
  for (const auto& check : failed) {
    Diagnosis diagnosis{check.name, nullptr, {}};
    for (const auto* bug : bugs) {
      if (Clock::now() > until) return found;  // half a list of ties would mislead
      const auto& own = bug->caught_by;
      if (std::find(own.begin(), own.end(), check.name) == own.end()) continue;
      if (!reproduces(*bug, check)) continue;
      if (diagnosis.bug == nullptr) {
        diagnosis.bug = bug;
      } else {
        diagnosis.also.push_back(bug);
      }
    }
    if (diagnosis.bug != nullptr) found.push_back(std::move(diagnosis));
  }
  return found;
}

}  // namespace gradlab
