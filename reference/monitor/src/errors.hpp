// Every wording of the library, as named factories, so that they can be read and tested in one
// place: what construction throws, and the messages inside events.
#pragma once

#include <cstdint>
#include <string>

#include "gradlab/monitor/error.hpp"

namespace gradlab::monitor::errors {

Error no_parameters();
Error undefined_parameter(const std::string& name);
Error scaler_without_optimizer();
Error null_optimizer(size_t index);
Error bad_option(const char* option, const std::string& was, const char* may_be);
Error no_layer_matches(const std::string& pattern, const std::string& first_layer);
Error record_exists(const std::string& path);
Error record_not_writable(const std::string& path, const std::string& why);
Error bad_state(const std::string& why);

}  // namespace gradlab::monitor::errors

namespace gradlab::monitor::messages {

extern const char* const kLateAfterStep;
extern const char* const kLateAfterUpdate;
extern const char* const kBadScale;
extern const char* const kSkipStreak;
extern const char* const kScaleAtFloor;
extern const char* const kUnderflow;
extern const char* const kNoGradients;
extern const char* const kMissingGradient;
extern const char* const kLossWasScaled;
extern const char* const kClippedBefore;
extern const char* const kStepAfterClose;
extern const char* const kSinkDropped;
extern const char* const kRecordStopped;
extern const char* const kSkippedLate;
extern const char* const kUnknownOptimizer;
std::string complex_loss();

}  // namespace gradlab::monitor::messages
