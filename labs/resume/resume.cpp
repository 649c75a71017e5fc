// Going on after an interruption: your answers. The contract is resume.hpp, with the trainer; the
// story is handouts/resume.md. Replace each todo() by your code; write helpers
// wherever you like.
#include "resume.hpp"

namespace resume {

// Task 1: weights and optimizer.
std::string save_model(const Trainer& trainer) { return gradlab::todo("resume.1", trainer); }
void load_model(Trainer& trainer, const std::string& bytes) {
  gradlab::todo("resume.1", trainer, bytes);
}

// Task 2: scaler and schedule.
std::string save_scaler(const Trainer& trainer) { return gradlab::todo("resume.2", trainer); }
void load_scaler(Trainer& trainer, const std::string& bytes) {
  gradlab::todo("resume.2", trainer, bytes);
}

// Task 3: random numbers and the order of the data.
std::string save_random(const Trainer& trainer) { return gradlab::todo("resume.3", trainer); }
void load_random(Trainer& trainer, const std::string& bytes) {
  gradlab::todo("resume.3", trainer, bytes);
}

// Task 4: a window that is not full.
std::string save_window(const Trainer& trainer) { return gradlab::todo("resume.4", trainer); }
void load_window(Trainer& trainer, const std::string& bytes) {
  gradlab::todo("resume.4", trainer, bytes);
}

// Task 5: all of it in one file that is never half.
void save_checkpoint(const Trainer& trainer, const std::string& path) {
  gradlab::todo("resume.5", trainer, path);
}
void load_checkpoint(Trainer& trainer, const std::string& path) {
  gradlab::todo("resume.5", trainer, path);
}

}  // namespace resume
