// A judge server as the command sees it: orders go in, events come out, a line each. The judge may
// die at any moment; the client notices, says so once, and the next order starts a new one.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace gradlab::pipeline {

class JudgeClient {
 public:
  // `stop`, when set by another, makes next() return nothing soon.
  explicit JudgeClient(std::string program, const std::atomic<bool>* stop = nullptr)
      : program_(std::move(program)), stop_(stop) {}
  ~JudgeClient() { stop(); }
  JudgeClient(const JudgeClient&) = delete;
  JudgeClient& operator=(const JudgeClient&) = delete;

  // Starts the server ahead of the first order, so that LibTorch loads meanwhile.
  void start();
  // False when the server is gone.
  bool send(const nlohmann::json& order);
  // The next event, or nothing when the server ended, sent no JSON, or `seconds` passed.
  std::optional<nlohmann::json> next(double seconds);
  void stop();

  // What the judge wrote on stderr, for a grader_error's cause; at most 4 KiB.
  std::string complaint() const { return complaint_; }

 private:
  bool read_more(std::chrono::steady_clock::time_point until);

  std::string program_;
  const std::atomic<bool>* stop_;
  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
  int err_ = -1;
  std::string buffer_;
  std::string complaint_;
};

}  // namespace gradlab::pipeline
