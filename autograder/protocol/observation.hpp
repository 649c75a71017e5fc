// What can be seen of one run from outside: named tensors, numbers and words, or how it ended.
#pragma once

#include <torch/types.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "protocol/frame.hpp"

namespace gradlab {

// How a run ended that gave no whole answer. The names are verdicts of a check.
enum class Fault { kNone, kNotStarted, kCrashed, kTimeLimit, kMemoryLimit, kOutputLimit, kForged };

class Observation {
 public:
  Observation& add(const std::string& name, std::vector<torch::Tensor> tensors);
  Observation& add(const std::string& name, double number);
  Observation& add(const std::string& name, bool flag) { return add(name, flag ? 1.0 : 0.0); }
  Observation& add_word(const std::string& name, std::string word);

  // Runs `body`; the word kEndOfCall becomes one of the four below it. Use it where throwing is an
  // answer; elsewhere let the exception leave the experiment, and the run counts as thrown.
  Observation& call(const std::function<void()>& body);
  static constexpr const char* kEndOfCall = "end_of_the_call";
  static constexpr const char* kReturned = "a return";
  static constexpr const char* kRuntimeError = "a std::runtime_error";
  static constexpr const char* kOtherException = "another std::exception";
  static constexpr const char* kNoException = "a throw of something that is no std::exception";

  // A word of this name is a trace: the calls that were seen, one a line. It explains a failure
  // beside the reference's, and is never compared: what is right may be called in another order.
  static constexpr const char* kTrace = "trace";

  bool has(const std::string& name) const;
  const std::vector<torch::Tensor>& tensors(const std::string& name) const;
  double number(const std::string& name) const;
  const std::string& word(const std::string& name) const;

  const std::map<std::string, std::vector<torch::Tensor>>& all_tensors() const { return tensors_; }
  const std::map<std::string, double>& all_numbers() const { return numbers_; }
  const std::map<std::string, std::string>& all_words() const { return words_; }

  // Set where the run gave no whole answer.
  Fault fault = Fault::kNone;
  std::string task;    // kNotStarted: the label of the task that is not written
  std::string threw;   // what left the experiment, its message cut to a sentence; empty for nothing
  std::string detail;  // of a fault, in words: "signal 11 (Segmentation fault)"
  std::string output;  // what the student's code printed meanwhile

  protocol::Frame to_frame() const;
  // Throws protocol::MalformedFrame or MalformedTensor: what a runner sends is hostile.
  static Observation from_frame(const protocol::Frame& frame);

 private:
  std::map<std::string, std::vector<torch::Tensor>> tensors_;
  std::map<std::string, double> numbers_;
  std::map<std::string, std::string> words_;
};

// The message of an exception as a person wants it: c10::Error cut to its first sentence.
std::string first_sentence(const std::string& what);

}  // namespace gradlab
