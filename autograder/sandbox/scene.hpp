// What the trials of promises are after: a file that all may read, a process, a variable, a
// descriptor.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "sandbox/descriptor.hpp"
#include "sandbox/errors.hpp"

namespace gradlab::sandbox {

class Scene {
 public:
  Scene() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "gradlab-scene-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw errors::system_call("making " + pattern, errno);
    folder_ = pattern;
    std::filesystem::permissions(folder_, std::filesystem::perms(0777));
    std::ofstream(file()) << "secret\n";
    std::filesystem::permissions(file(), std::filesystem::perms(0666));
    open_ = Descriptor(open(file().c_str(), O_RDONLY));  // not close-on-exec, on purpose
    setenv("GRADLAB_SECRET", "secret", 1);
    process_ = fork();
    if (process_ == 0) {
      for (;;) pause();
    }
  }
  ~Scene() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    unsetenv("GRADLAB_SECRET");
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  std::string file() const { return folder_ + "/file"; }
  std::string process() const { return std::to_string(process_); }
  bool process_lives() const { return waitpid(process_, nullptr, WNOHANG) == 0; }

 private:
  std::string folder_;
  Descriptor open_;
  pid_t process_ = -1;
};

}  // namespace gradlab::sandbox
