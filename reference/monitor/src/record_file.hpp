// The file of a record: whole lines, each handed to the system before write returns.
#pragma once

#include <fstream>
#include <string>

#include "gradlab/monitor/options.hpp"

namespace gradlab::monitor {

class RecordFile {
 public:
  // THROWS Error kRecordExists, kRecordNotWritable. Behind a line that was cut short (kAppend) a
  // new one begins.
  RecordFile(const std::string& path, FileMode mode);

  // Whether it was written. `line` ends with "\n".
  bool write(const std::string& line);

 private:
  std::ofstream out_;
};

}  // namespace gradlab::monitor
