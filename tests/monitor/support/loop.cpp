#include "support/loop.hpp"

#include <cmath>
#include <stdexcept>

namespace loops {

monitor::Options Told::heard(monitor::Options options) {
  options.on_event = [this](const monitor::Event& event) { events.push_back(event); };
  options.on_step = [this](const monitor::StepRecord& record) { records.push_back(record); };
  return options;
}

int64_t Told::count(const std::string& name) const {
  return std::count_if(events.begin(), events.end(),
                       [&](const monitor::Event& event) { return event.name == name; });
}

const monitor::Event& Told::first(const std::string& name) const {
  for (const auto& event : events) {
    if (event.name == name) return event;
  }
  throw std::runtime_error("no event " + name);
}

std::vector<std::string> Told::names() const {
  std::vector<std::string> all;
  all.reserve(events.size());
  for (const auto& event : events) all.push_back(event.name);
  return all;
}

monitor::Options every_step(monitor::Rules rules) {
  auto options = rules == monitor::Rules::kPlain ? monitor::Options::plain() : monitor::Options();
  options.check_every = 1;
  return options;
}

amp::GradScaler scaler_at(double scale) {
  amp::GradScalerOptions options;
  options.init_scale = scale;
  amp::GradScaler scaler(options);
  scaler.scale(torch::ones({}));
  return scaler;
}

monitor::Options with(const amp::GradScaler& scaler, monitor::Rules rules) {
  auto options = every_step(rules);
  options.scaler = &scaler;
  return options;
}

namespace {

template <typename T>
T field_as(const monitor::Event& event, const std::string& field) {
  const monitor::Value* value = event.find(field);
  if (value == nullptr) throw std::runtime_error(event.name + " has no field " + field);
  return std::get<T>(*value);
}

}  // namespace

std::string text(const monitor::Event& event, const std::string& field) {
  return field_as<std::string>(event, field);
}

double number(const monitor::Event& event, const std::string& field) {
  const monitor::Value* value = event.find(field);
  if (value != nullptr && std::holds_alternative<int64_t>(*value)) {
    return static_cast<double>(std::get<int64_t>(*value));
  }
  return field_as<double>(event, field);
}

Hand::Hand(size_t layers, std::vector<int64_t> shape, torch::ScalarType type) {
  std::vector<torch::Tensor> parameters;
  for (size_t i = 0; i < layers; ++i) {
    const auto tensor = torch::full(shape, 0.5, type).set_requires_grad(true);
    layers_.push_back({std::string(1, static_cast<char>('a' + i)), "Linear", {{"weight", tensor}}});
    parameters.push_back(tensor);
  }
  optimizer_ = std::make_unique<torch::optim::SGD>(parameters, torch::optim::SGDOptions(0.0));
}

void Hand::set(size_t layer, double value) {
  const torch::Tensor& to = parameter(layer);
  to.mutable_grad() = std::isnan(value) ? torch::Tensor() : torch::full_like(to.detach(), value);
}

void Hand::set_all(const std::vector<double>& values) {
  for (size_t i = 0; i < values.size(); ++i) set(i, values[i]);
}

}  // namespace loops
