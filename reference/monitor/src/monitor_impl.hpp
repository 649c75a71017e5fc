// A monitor's inside: the step in progress, between step() and the update that ends it.
#pragma once

#include <c10/util/FunctionRef.h>

#include <memory>
#include <optional>
#include <vector>

#include "call_hub.hpp"
#include "gradlab/monitor/monitor.hpp"
#include "loss_notes.hpp"
#include "rule_set.hpp"
#include "scale_watch.hpp"

namespace gradlab::monitor {

// A call of clip: its limit, and the norm it was given.
struct Clip {
  double max_norm;
  at::Tensor norm;
  double coefficient() const;
};
// A step whose end is not known yet.
struct Window {
  StepRecord record;
  bool with_layers = false;
  bool expected_skip = false;
  bool late = false;          // the check came after the scaler's step
  bool after_update = false;  // and after its update, too
  int64_t skipped_before = 0, taken_before = 0;
};

class Monitor::Impl : public CallListener {
  // First, so that nothing is created for what they refuse.
  Options options_;
  ParameterTable table_;

 public:
  Impl(const Model& model, const std::vector<torch::optim::Optimizer*>& optimizers,
       const Options& options);
  ~Impl() override;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // Runs `body`; what it throws becomes an event.
  template <typename Body>
  void guarded(const Body& body) noexcept;
  // read_loss() gives the loss; it is only called where the step is looked at.
  void step(c10::function_ref<LossValue()> read_loss);
  void close();
  void on_end(const amp::Event& event) noexcept override;

  std::string state();
  void load_state(const std::string& json);

  int64_t steps_ = 0, checks_ = 0;
  Journal journal_;
  LayerNorms norms_;
  std::optional<double> loss_;
  std::unique_ptr<RuleSet> rules_;

 private:
  bool plain() const noexcept { return options_.rules == Rules::kPlain; }
  Context context() { return {journal_, options_, steps_ - 1}; }
  void start();
  void begin_window();
  // Why the check comes too late; null where it does not.
  const char* late() const;
  void look(const LossValue& loss);
  void tell_once(bool& told, const char* name, Severity severity, const char* message);
  void recognise_scaled(LossValue& loss) const;
  void finish_window();
  void finish_scaled(Window& window);
  void note_clip(const amp::Event& event);
  void note_unscale(const amp::Event& event);
  void exchange(Numbers& numbers);

  Precision precision_;
  std::vector<const torch::optim::Optimizer*> optimizers_;
  LossNotes loss_notes_;
  ScaleWatch scale_watch_;
  std::optional<Window> window_;
  std::vector<Clip> clips_;         // of the window; before it, of the next one
  std::vector<at::Tensor> losses_;  // that were scaled since the last step, detached
  int64_t skipped_total_ = 0;
  bool clips_first_ = false;  // the loop clips before step()
  bool updated_ = false;      // update() came, and no scale() since
  bool late_ = false, told_clipped_ = false, told_closed_ = false, closed_ = false;
  bool told_unknown_ = false;
};

}  // namespace gradlab::monitor
