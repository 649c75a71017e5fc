// The event_log lab's experiments: each runs one implementation over the steps or records of a case
// and notes what can be seen after every call. They know no expected value.
#include <map>

#include "event_log.hpp"
#include "experiments/event_log/training.hpp"
#include "experiments/event_log/words.hpp"
#include "runner/lab.hpp"

namespace {

using namespace gradlab::event_log_runs;
using event_log::Impl;
using event_log::Record;
using gradlab::Case;
using gradlab::Observation;

torch::Tensor value(double number) { return torch::full({}, number, torch::kFloat64); }
// None as an undefined tensor, and back.
torch::Tensor value(const std::optional<double>& number) {
  return number ? value(*number) : torch::Tensor();
}
std::optional<double> number(const torch::Tensor& value) {
  if (!value.defined()) return std::nullopt;
  return value.item<double>();
}

// Lists of numbers, by name, an element for each step.
class Diary {
 public:
  template <typename Value>
  void note(const std::string& name, const Value& seen) {
    lists_[name].push_back(value(seen));
  }
  void note(const std::string& name, bool seen) { note(name, seen ? 1.0 : 0.0); }
  void note(const std::string& name, const torch::Tensor& seen) { lists_[name].push_back(seen); }
  void note(const Record& record) {
    note("step_of_records", static_cast<double>(record.step));
    note("loss_of_records", record.loss);
    note("scale_of_records", record.scale);
    note("scale_after_of_records", record.scale_after);
    note("norm_of_records", record.norm);
    note("clipped_of_records", record.clipped);
    note("skipped_of_records", record.skipped);
    note("lr_of_records", record.lr);
  }
  Observation seen() const {
    Observation all;
    for (const auto& [name, list] : lists_) all.add(name, list);
    return all;
  }

 private:
  std::map<std::string, std::vector<torch::Tensor>> lists_;
};

Observation logged_steps(const Impl& impl, const Case& in) {
  Training training(in);
  Diary diary;
  for (size_t i = 0; i < training.steps(); ++i) {
    const auto step = in.integer("first_step") + static_cast<int64_t>(i);
    diary.note(impl.logged_step(training.loop(), step, training.loss(i)));
    diary.note("weights_after_steps", training.weights());
    diary.note("scale_after_steps", training.scale());
    diary.note("lr_after_steps", training.lr());
    diary.note("gradients_of_steps", training.take_stepped_gradients());
  }
  return diary.seen();
}

Record record_of(const Case& in) {
  const auto scale = [&](const std::string& name) {
    return in.all_numbers().contains(name) ? std::optional(in.number(name)) : std::nullopt;
  };
  Record record{.step = in.integer("step"),
                .loss = in.number("loss"),
                .scale = scale("scale"),
                .scale_after = scale("scale_after"),
                .norm = in.number("norm"),
                .clipped = in.integer("clipped") != 0,
                .skipped = in.integer("skipped") != 0,
                .lr = in.number("lr")};
  // A NaN's sign does not travel by itself.
  if (in.all_integers().contains("negative_nan")) record.loss = std::copysign(record.loss, -1.0);
  return record;
}

Observation written_line(const Impl& impl, const Case& in) {
  const std::string text = impl.json_line(record_of(in));
  const auto line = parsed(text);
  Observation seen;
  seen.add_word("the_line", line.in_words);
  seen.add("newlines", static_cast<double>(std::count(text.begin(), text.end(), '\n')));
  seen.add("newline_at_the_end", text.ends_with('\n'));
  for (const std::string name :
       {"event", "step", "loss", "scale", "scale_after", "norm", "clipped", "skipped", "lr"}) {
    const bool readable = line.object.is_object();
    seen.add_word(name + "_in_the_line",
                  readable ? field_in_words(line.object, name) : "unreadable");
  }
  return seen;
}

Observation norm(const Impl& impl, const Case& in) {
  const auto gradients = in.copies("gradients");
  const bool unscaled = in.integer("unscaled") != 0;
  const double norm = impl.true_norm(gradients, in.number("scale"), unscaled);
  return Observation().add("norm", norm).add("gradients", gradients);
}

// Records with these norms, one after another, from a baseline that the case names.
Observation watched_run(const Impl& impl, const Case& in) {
  event_log::Baseline baseline{.mean = in.number("mean"),
                               .variance = in.number("variance"),
                               .updates = in.integer("updates")};
  const auto &norms = in.tensors("norms"), &skipped = in.tensors("skipped (1 true, 0 false) flags");
  Diary diary;
  EventWords events;
  for (size_t i = 0; i < norms.size(); ++i) {
    Record record;
    record.step = static_cast<int64_t>(i);
    record.norm = norms[i].item<double>();
    record.skipped = skipped.at(i).item<double>() != 0;
    events.add(record.step, impl.watch(record, baseline));
    diary.note("mean_after_records", baseline.mean);
    diary.note("variance_after_records", baseline.variance);
    diary.note("updates_after_records", static_cast<double>(baseline.updates));
  }
  return diary.seen().add_word("events", events.text());
}

Observation findings(const Impl& impl, const Case& in) {
  std::vector<Record> log;
  for (size_t i = 0; i < in.tensors("losses").size(); ++i) {
    const auto at = [&](const std::string& name) { return in.tensors(name).at(i); };
    Record record;
    record.step = static_cast<int64_t>(at("steps").item<double>());
    record.loss = at("losses").item<double>();
    record.scale = number(at("scales"));
    record.scale_after = number(at("scales_after"));
    record.norm = at("norms").item<double>();
    record.skipped = at("skipped (1 true, 0 false) flags").item<double>() != 0;
    log.push_back(record);
  }
  return Observation().add_word("findings", in_words(impl.read_log(log)));
}

GRADLAB_EXPERIMENTS(event_log, logged_steps, written_line, norm, watched_run, findings)

}  // namespace
