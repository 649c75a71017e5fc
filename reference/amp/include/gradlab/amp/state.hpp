// A GradScaler's state in checkpoints: LibTorch's archives, and JSON.
#pragma once

#include <string>

#include "gradlab/amp/error.hpp"

namespace torch::serialize {
class InputArchive;
class OutputArchive;
}  // namespace torch::serialize

namespace gradlab::amp {

class GradScaler;

// With torch/serialize.h: torch::save(scaler, "scaler.pt"), torch::load(scaler, "scaler.pt"); or as
// a part of a larger archive: archive << scaler. Save and load model, optimizer and scaler
// together, after update. Loading is all or nothing. THROWS Error kMissingKey, kBadState,
// kEmptyState (saved from a disabled scaler, loaded into an enabled one); LibTorch's own c10::Error
// where the file is no archive or is cut short. A disabled scaler takes anything and stays as it
// is.
torch::serialize::OutputArchive& operator<<(torch::serialize::OutputArchive& archive,
                                            const GradScaler& scaler);
torch::serialize::InputArchive& operator>>(torch::serialize::InputArchive& archive,
                                           GradScaler& scaler);

// One JSON object with the keys of Python's state_dict: json.dump of that can be loaded here, and
// this there. Numbers have the shortest digits that read back as the same double; inf is the string
// "inf", as JSON has no word for it. "{}" for a disabled scaler.
std::string to_json(const GradScaler& scaler);
// All or nothing; unknown keys are passed over, as in Python. Needs no JSON library.
// THROWS Error kMissingKey, kBadState (no JSON object, cut short, a value that no scaler has),
//   kEmptyState ("{}").
void load_json(GradScaler& scaler, const std::string& text);

}  // namespace gradlab::amp
