#include "loss_notes.hpp"

#include "errors.hpp"

namespace gradlab::monitor {
namespace {

// The first time only.
bool first(bool happened, bool& told) {
  const bool now = happened && !told;
  told = told || happened;
  return now;
}

}  // namespace

void LossNotes::look(const Context& context, const LossValue& loss, double scale) {
  if (first(loss.is_complex, complex_)) {
    context.tell("bad_loss", Severity::kWarning, {{"message", messages::complex_loss()}});
    return;
  }
  if (first(loss.value && loss.elements > 1, reduced_)) {
    context.tell("loss_reduced", Severity::kInfo, {{"elements", loss.elements}});
  }
  if (first(loss.was_scaled, scaled_)) {
    context.tell("loss_was_scaled", Severity::kInfo,
                 {{"scale", scale}, {"message", std::string(messages::kLossWasScaled)}});
  }
}

}  // namespace gradlab::monitor
