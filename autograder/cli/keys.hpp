// Single keys of a terminal, without Enter; of a pipe the first letter of each line.
#pragma once

#include <termios.h>

#include <optional>

namespace gradlab::cli {

class Keys {
 public:
  // `single`: stdin is a terminal whose keys come at once. It is put back on destruction and when
  // a signal ends or stops the process.
  explicit Keys(bool single);
  ~Keys();
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;

  // For poll(); -1 when stdin has ended.
  int descriptor() const { return open_ ? 0 : -1; }
  // The next key, when one is there. REQUIRES: poll() said that stdin can be read.
  std::optional<char> next();

  // While another program has the terminal.
  void lend();
  void take_back();

 private:
  bool single_;
  bool open_ = true;
  bool line_begins_ = true;
};

}  // namespace gradlab::cli
