// The loop of ./gradlab watch: a lab is checked again whenever its file is saved, and keys ask for
// more.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "cli/keys.hpp"
#include "cli/own_check.hpp"
#include "cli/saved_files.hpp"

namespace gradlab::cli {

class Watcher {
 public:
  struct Settings {
    std::string slug;      // the lab to begin with
    bool only = false;     // this lab alone, whatever else is saved
    bool plain = false;    // line by line: nothing is cleared, commands are lines
    bool polling = false;  // look at the folder, whatever its file system tells
  };
  Watcher(Session& session, const Settings& settings);
  // Until q or the end of the process.
  void run();

 private:
  // One lab, as it was seen last.
  struct Seen {
    std::unique_ptr<OwnCheck> check;
    std::optional<Record> now, before;
    std::string text, text_before;
  };

  void look_at(const std::vector<SavedFiles::Change>& changes);
  void check();
  void show_verdicts(const Record& record);
  void show();           // the last record once more
  bool press(char key);  // false: the end
  void next_task();
  void hint();
  void handout();
  void list();
  void changes();
  void rewidth();

  void clear() const;
  void keys_line() const;
  std::string file() const { return session_.workspace.work_file(slug_).string(); }
  Seen& seen() { return seen_[slug_]; }
  // The task that has the student's attention: the one chosen, else the first that does not pass.
  int task();

  Session& session_;
  Settings settings_;
  std::string slug_;
  std::optional<int> task_;
  std::map<std::string, Seen> seen_;
  SavedFiles files_;
  Keys keys_;
};

}  // namespace gradlab::cli
