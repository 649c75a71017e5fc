#include "training_log/diagnoses/detector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "training_log/number.hpp"

namespace gradlab::training_log {

std::string RunFacts::text(std::initializer_list<const char*> names) const {
  for (const char* name : names) {
    for (const auto& [known, value] : config) {
      if (known == name) return value;
    }
  }
  return "";
}

std::optional<double> RunFacts::number(std::initializer_list<const char*> names) const {
  return number_of(text(names));
}

void Window::add(double value) {
  values_.push_back(value);
  if (values_.size() > size_) values_.pop_front();
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double Window::median() const { return median_of({values_.begin(), values_.end()}); }

double Window::spread() const {
  const double middle = median();
  std::vector<double> off;
  off.reserve(values_.size());
  for (const double value : values_) off.push_back(std::fabs(value - middle));
  return 1.4826 * median_of(std::move(off));
}

double Window::least() const { return *std::min_element(values_.begin(), values_.end()); }
double Window::most() const { return *std::max_element(values_.begin(), values_.end()); }

std::string steps_text(std::int64_t first, std::int64_t last) {
  return first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
}

std::string plural(std::int64_t count, const std::string& one) {
  return fmt::format("{} {}{}", counted(count), one, count == 1 ? "" : "s");
}

std::vector<std::unique_ptr<Detector>> all_detectors(const RunFacts& facts) {
  static constexpr Maker kMakers[] = {watch_overflows,     watch_pinned_scale, watch_clipping,
                                      watch_scaled_values, watch_logged_scale, watch_skip_reports,
                                      watch_nonfinite,     watch_divergence,   watch_spikes,
                                      watch_schedule,      watch_last_windows, watch_resumes,
                                      watch_zero_norms};
  std::vector<std::unique_ptr<Detector>> detectors;
  for (const Maker make : kMakers) detectors.push_back(make(facts));
  return detectors;
}

}  // namespace gradlab::training_log
