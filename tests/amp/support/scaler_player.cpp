#include "support/scaler_player.hpp"

#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>
#include <torch/serialize.h>

#include <sstream>

#include "gradlab/amp/clip.hpp"
#include "gradlab/amp/state.hpp"

namespace golden {
namespace {

namespace amp = gradlab::amp;

const char* word(amp::Stage stage) {
  switch (stage) {
    case amp::Stage::kReady:
      return "READY";
    case amp::Stage::kUnscaled:
      return "UNSCALED";
    case amp::Stage::kStepped:
      return "STEPPED";
  }
  return "";
}

Json state_dict_of(const amp::GradScaler& scaler) { return Json::parse(amp::to_json(scaler)); }

}  // namespace

void load_state_dict(amp::GradScaler& scaler, const Json& state) {
  amp::load_json(scaler, state.dump());
}

ScalerPlayer::ScalerPlayer(const Json& body)
    : scaler_(std::make_unique<amp::GradScaler>(scaler_options_of(body.at("scaler")))) {
  for (const auto& [name, value] : body.at("params").items()) {
    parameters_[name] = tensor(value).clone().set_requires_grad(true);
  }
  for (const auto& [name, spec] : body.at("optimizers").items()) {
    optimizers_[name] = optimizer_of(spec, parameters_);
    adamw_ = adamw_ || spec.at("type") == "adamw";
  }
}

void ScalerPlayer::play(const Json& op, const Json& result) {
  applied_ = false;
  const std::string kind = op.at("op");
  if (kind == "backward" || kind == "set_grad" || kind == "set_grad_element" ||
      kind == "zero_grad" || kind == "clip_grad_norm_") {
    play_on_gradients(op, result);
  } else if (kind == "state_dict" || kind == "save" || kind == "load_scaler" ||
             kind == "load_all" || kind == "load_state_dict" || kind == "new_scaler") {
    play_state(op, result);
  } else {
    play_on_scaler(op, result);
  }
}

void ScalerPlayer::play_on_gradients(const Json& op, const Json& result) {
  const std::string kind = op.at("op");
  if (kind == "backward") {
    backward(op);
  } else if (kind == "set_grad") {
    parameters_.at(op.at("param")).mutable_grad() = tensor(op.at("grad"));
  } else if (kind == "set_grad_element") {
    parameters_.at(op.at("param")).grad().view(-1)[op.at("index").get<int64_t>()] =
        number(op.at("value"));
  } else if (kind == "zero_grad") {
    optimizers_.at(op.at("optimizer"))->zero_grad(op.at("set_to_none"));
  } else {
    std::vector<torch::Tensor> clipped;
    for (const std::string name : op.at("params")) clipped.push_back(parameters_.at(name));
    const auto total = amp::clip_grad_norm_(clipped, number(op.at("max_norm")));
    EXPECT_TRUE(matches(total, Json::array({result.at("total_norm")})));
  }
}

// loss = the sum of parameter * gradient, so that the scaled gradients are the given ones times
// scale.
void ScalerPlayer::backward(const Json& op) {
  torch::Tensor loss;
  for (const auto& [name, gradient] : op.at("grads").items()) {
    const auto part = (parameters_.at(name) * tensor(gradient)).sum();
    loss = loss.defined() ? loss + part : part;
  }
  scaler_->scale(loss).backward();
}

void ScalerPlayer::play_on_scaler(const Json& op, const Json& result) {
  const std::string kind = op.at("op");
  if (kind == "scale") {
    EXPECT_TRUE(bit_equal(scaler_->scale(tensor(op.at("value"))), tensor(result.at("output"))));
  } else if (kind == "scale_list") {
    std::vector<torch::Tensor> values;
    for (const Json& value : op.at("values")) values.push_back(tensor(value));
    const auto scaled = scaler_->scale(values);
    ASSERT_EQ(scaled.size(), result.at("outputs").size());
    for (size_t i = 0; i < scaled.size(); ++i) {
      EXPECT_TRUE(bit_equal(scaled[i], tensor(result.at("outputs").at(i))));
    }
  } else if (kind == "unscale_") {
    scaler_->unscale_(*optimizers_.at(op.at("optimizer")));
  } else if (kind == "step" || kind == "step_closure") {
    step(op);
  } else if (kind == "update") {
    update(op);
  } else if (kind == "set_growth_factor") {
    scaler_->set_growth_factor(number(op.at("value")));
  } else if (kind == "set_backoff_factor") {
    scaler_->set_backoff_factor(number(op.at("value")));
  } else if (kind == "set_growth_interval") {
    scaler_->set_growth_interval(op.at("value"));
  } else {
    FAIL() << "unknown op " << kind;
  }
}

void ScalerPlayer::step(const Json& op) {
  const std::string name = op.at("optimizer");
  auto& optimizer = *optimizers_.at(name);
  applied_ = op.at("op") == "step" ? scaler_->step(optimizer)
                                   : scaler_->step(optimizer, [] { return torch::zeros({}); });
  if (applied_) ++steps_[name];
}

void ScalerPlayer::update(const Json& op) {
  if (op.contains("new_scale")) {
    scaler_->update(number(op.at("new_scale")));
  } else if (op.contains("new_scale_tensor")) {
    auto value = tensor(op.at("new_scale_tensor"));
    scaler_->update(value.set_requires_grad(op.value("requires_grad", false)));
  } else {
    scaler_->update();
  }
}

void ScalerPlayer::play_state(const Json& op, const Json& result) {
  const std::string kind = op.at("op");
  if (kind == "state_dict") {
    EXPECT_EQ(state_dict_of(*scaler_), result.at("state"));
  } else if (kind == "save") {
    save(op.at("slot"));
    EXPECT_EQ(state_dict_of(*scaler_), result.at("state"));
  } else if (kind == "load_scaler") {
    std::istringstream in(slots_.at(op.at("slot")).scaler);
    torch::load(*scaler_, in);
  } else if (kind == "load_all") {
    load_all(slots_.at(op.at("slot")));
  } else if (kind == "load_state_dict") {
    load_state_dict(*scaler_, op.at("state"));
  } else {
    scaler_ = std::make_unique<amp::GradScaler>(scaler_options_of(op.at("config")));
  }
}

void ScalerPlayer::save(const std::string& name) {
  Slot& slot = slots_[name];
  std::ostringstream out;
  torch::save(*scaler_, out);
  slot.scaler = out.str();
  for (const auto& [parameter, value] : parameters_) {
    slot.parameters[parameter] = value.detach().clone();
  }
  for (const auto& [optimizer, value] : optimizers_) {
    std::ostringstream state;
    torch::save(*value, state);
    slot.optimizers[optimizer] = state.str();
  }
}

void ScalerPlayer::load_all(const Slot& slot) {
  std::istringstream in(slot.scaler);
  torch::load(*scaler_, in);
  const at::NoGradGuard no_grad;
  for (const auto& [name, value] : slot.parameters) parameters_.at(name).copy_(value);
  for (const auto& [name, state] : slot.optimizers) {
    std::istringstream saved(state);
    torch::load(*optimizers_.at(name), saved);
  }
}

// LibTorch's SGD rounds as Python's does; its AdamW does not quite, so it has a tolerance.
testing::AssertionResult ScalerPlayer::matches(const torch::Tensor& got, const Json& data) const {
  const auto expected = flat(data, got);
  if (adamw_) return close(got, expected, 1e-4, 1e-6);
  return as_recorded(got, expected, 1e-5, 1e-7);
}

void ScalerPlayer::expect_after(const Json& after) {
  EXPECT_EQ(static_cast<float>(scaler_->get_scale()),
            static_cast<float>(number(after.at("scale"))));
  EXPECT_EQ(scaler_->growth_tracker(), after.at("growth_tracker").get<int64_t>());
  EXPECT_EQ(scaler_->is_initialised(), after.at("initialised").get<bool>());
  for (const auto& [name, value] : after.at("params").items()) {
    EXPECT_TRUE(matches(parameters_.at(name), value)) << "parameter " << name;
  }
  for (const auto& [name, value] : after.at("grads").items()) {
    const auto gradient = parameters_.at(name).grad();
    ASSERT_EQ(gradient.defined(), !value.is_null()) << "gradient of " << name;
    if (gradient.defined()) EXPECT_TRUE(matches(gradient, value)) << "gradient of " << name;
  }
  for (const auto& [name, value] : after.at("optimizers").items()) expect_optimizer(name, value);
}

void ScalerPlayer::expect_optimizer(const std::string& name, const Json& after) {
  SCOPED_TRACE("optimizer " + name);
  auto& optimizer = *optimizers_.at(name);
  const auto view = scaler_->view(optimizer);
  EXPECT_EQ(word(view.stage), after.at("stage").get<std::string>());
  EXPECT_EQ(view.found_inf.has_value(), !after.at("found_inf").is_null());
  if (view.found_inf) EXPECT_EQ(*view.found_inf, number(after.at("found_inf")) != 0);
  EXPECT_EQ(steps_[name], after.at("steps_applied").get<int>());
  if (!after.contains("state")) return;
  for (const auto& [parameter, state] : after.at("state").items()) {
    const auto found = optimizer.state().find(parameters_.at(parameter).unsafeGetTensorImpl());
    ASSERT_NE(found, optimizer.state().end());
    if (state.contains("momentum_buffer")) {
      const auto& own = static_cast<torch::optim::SGDParamState&>(*found->second);
      EXPECT_TRUE(matches(own.momentum_buffer(), state.at("momentum_buffer")));
    } else {
      const auto& own = static_cast<torch::optim::AdamWParamState&>(*found->second);
      EXPECT_TRUE(matches(own.exp_avg(), state.at("exp_avg")));
      EXPECT_TRUE(matches(own.exp_avg_sq(), state.at("exp_avg_sq")));
      EXPECT_EQ(own.step(), state.at("step").get<int64_t>());
    }
  }
}

}  // namespace golden
