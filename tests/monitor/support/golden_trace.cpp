#include "support/golden_trace.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>

namespace traces {
namespace {

namespace monitor = gradlab::monitor;

// GRADLAB_GOLDEN's folder where it has one: it may have been made without ormas-monitor.
std::string folder() {
  const char* other = std::getenv("GRADLAB_GOLDEN");
  const std::string theirs = std::string(other != nullptr ? other : "") + "/monitor";
  if (other != nullptr && std::filesystem::is_directory(theirs)) return theirs;
  const char* root = std::getenv("GRADLAB_ROOT");
  return std::string(root != nullptr ? root : ".") + "/tests/golden/monitor";
}

torch::ScalarType dtype(const std::string& name) {
  if (name == "float64") return torch::kDouble;
  if (name == "float16") return torch::kHalf;
  if (name == "bfloat16") return torch::kBFloat16;
  return torch::kFloat;
}

}  // namespace

std::vector<Trace> all() {
  std::vector<Trace> traces;
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream in(entry.path());
    Json body = Json::parse(in);
    std::string name = body.at("scenario");
    traces.push_back({std::move(name), std::move(body)});
  }
  if (traces.empty()) throw std::runtime_error("no traces in " + folder());
  std::sort(traces.begin(), traces.end(),
            [](const Trace& a, const Trace& b) { return a.name < b.name; });
  return traces;
}

double number(const Json& json) {
  if (!json.is_string()) return json.get<double>();
  const std::string text = json;
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  return text == "-inf" ? -infinity : infinity;
}

Player::Player(const Json& trace) : trace_(trace) {
  std::vector<torch::Tensor> parameters;
  for (const Json& layer : trace_.at("layers")) {
    monitor::Layer own{layer.at("name"), layer.at("kind"), {}};
    for (const Json& parameter : layer.at("params")) {
      const auto shape = parameter.at("shape").get<std::vector<int64_t>>();
      const auto tensor = torch::full(shape, 0.5, dtype(layer.at("dtype"))).set_requires_grad(true);
      own.parameters.push_back({parameter.at("name"), tensor});
      parameters.push_back(tensor);
    }
    layers_.push_back(std::move(own));
  }
  optimizer_ = std::make_unique<torch::optim::SGD>(parameters, torch::optim::SGDOptions(0.0));
  if (!trace_.at("scaler").is_null()) {
    const Json& described = trace_.at("scaler");
    gradlab::amp::GradScalerOptions scaler;
    scaler.init_scale = described.at("init_scale");
    scaler.growth_interval = described.at("growth_interval");
    scaler.growth_factor = described.at("growth_factor");
    scaler.backoff_factor = described.at("backoff_factor");
    scaler_ = std::make_unique<gradlab::amp::GradScaler>(scaler);
  }
  monitor_ = std::make_unique<monitor::Monitor>(layers_, *optimizer_, options());
}

monitor::Options Player::options() {
  monitor::Options options = monitor::Options::plain();
  const Json& config = trace_.at("config");
  options.check_every = config.at("check_every");
  options.warmup = config.at("warmup");
  options.sigma = config.at("sigma");
  options.alarm_min_decades = config.at("alarm_min_decades");
  options.alarm_confirmations = config.at("alarm_confirmations");
  options.baseline_rate_floor = config.at("baseline_rate_floor");
  options.loss_spike_factor = config.at("loss_spike_factor");
  options.layer_list_limit = config.at("layer_list_limit");
  options.scaler = scaler_.get();
  const Json& filter = trace_.at("layer_filter");
  if (filter.is_string()) options.layers = {filter.get<std::string>()};
  if (filter.is_array()) options.layers = filter.get<std::vector<std::string>>();
  options.on_event = [this](const monitor::Event& event) { events.push_back(event); };
  options.on_step = [this](const monitor::StepRecord& record) { records.push_back(record); };
  return options;
}

void Player::set_gradients(const Json& step) {
  const double scale = scaler_ ? scaler_->get_scale() : 1;
  const Json& described = trace_.at("layers");
  for (size_t l = 0; l < layers_.size(); ++l) {
    const Json& gain = step.at("gain").at(layers_[l].name);
    for (size_t p = 0; p < layers_[l].parameters.size(); ++p) {
      const torch::Tensor& parameter = layers_[l].parameters[p].tensor;
      if (gain.is_null()) {
        parameter.mutable_grad() = torch::Tensor();
        continue;
      }
      auto values = described[l].at("params")[p].at("pattern").get<std::vector<double>>();
      for (double& value : values) value *= gain.get<double>() * scale;
      for (const Json& inject : step.at("inject")) {
        if (inject.at("layer") != layers_[l].name ||
            inject.at("param") != layers_[l].parameters[p].name) {
          continue;
        }
        values[inject.at("index").get<size_t>()] = number(inject.at("value"));
      }
      parameter.mutable_grad() = torch::tensor(values, torch::kDouble)
                                     .reshape(parameter.sizes())
                                     .to(parameter.scalar_type());
    }
  }
}

void Player::play(const Json& step) {
  events.clear();
  if (scaler_) scaler_->scale(torch::ones({}));
  set_gradients(step);
  if (step.at("unscale_called")) scaler_->unscale_(*optimizer_);
  const Json& loss = step.at("loss");
  if (loss.is_null()) {
    monitor_->step();
  } else {
    std::vector<double> values;
    for (const Json& value : loss.is_array() ? loss : Json::array({loss})) {
      values.push_back(number(value));
    }
    const auto tensor = torch::tensor(values, torch::kFloat);
    monitor_->step(loss.is_array() ? tensor : tensor[0]);
  }
  if (scaler_ && !step.at("found_inf").is_null()) {
    scaler_->step(*optimizer_);
    scaler_->update();
  }
  if (scaler_) scale_after = scaler_->get_scale();
}

}  // namespace traces
