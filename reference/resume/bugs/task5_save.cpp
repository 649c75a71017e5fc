// Known mistakes in save_checkpoint: how bytes come to a path.
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "common.hpp"

namespace gradlab::resume_bugs {
namespace {

namespace fs = std::filesystem;

// Where a write fails half a file is left, and no old one.
Checks unsafe() {
  return {"a_killed_save_leaves_the_old_file", "a_full_disk_is_told", "an_open_file_stays_whole"};
}

struct WritesInPlace : Right {
  static void write(const std::string& path, const std::string& bytes) { write_all(path, bytes); }
};

struct RemovesTheOldFirst : Right {
  static void write(const std::string& path, const std::string& bytes) {
    fs::remove(path);
    replace_file(path, bytes);
  }
};

struct KeepsTheOldAside : Right {
  static void write(const std::string& path, const std::string& bytes) {
    if (fs::exists(path)) fs::rename(path, path + ".old");
    write_all(path, bytes);
  }
};

struct CopiesOver : Right {
  static void write(const std::string& path, const std::string& bytes) {
    write_all(path + ".new", bytes);
    fs::copy_file(path + ".new", path, fs::copy_options::overwrite_existing);
  }
};

// The stream's buffer is written when the stream is destroyed, behind the rename.
struct RenamesBeforeItIsWritten : Right {
  static void write(const std::string& path, const std::string& bytes) {
    std::ofstream out(path + ".new", std::ios::binary);
    for (const char byte : bytes) out.put(byte);
    if (!out) throw std::runtime_error("cannot write " + path);
    fs::rename(path + ".new", path);
  }
};

struct NeverAsksTheStream : Right {
  static void write(const std::string& path, const std::string& bytes) {
    {
      std::ofstream out(path + ".new", std::ios::binary);
      out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
    fs::rename(path + ".new", path);
  }
};

// Asks while the last bytes are in the buffer.
struct AsksBeforeTheFlush : Right {
  static void write(const std::string& path, const std::string& bytes) {
    {
      std::ofstream out(path + ".new", std::ios::binary);
      for (const char byte : bytes) out.put(byte);
      if (!out) throw std::runtime_error("cannot write " + path);
    }
    fs::rename(path + ".new", path);
  }
};

struct SaysNothing : Right {
  static void write(const std::string& path, const std::string& bytes) {
    try {
      replace_file(path, bytes);
    } catch (const std::runtime_error&) {
      fs::remove(path + ".new");
    }
  }
};

struct ThrowsALogicError : Right {
  static void write(const std::string& path, const std::string& bytes) {
    try {
      replace_file(path, bytes);
    } catch (const std::runtime_error& error) {
      throw std::logic_error(error.what());
    }
  }
};

struct NeverOverwrites : Right {
  static void write(const std::string& path, const std::string& bytes) {
    if (!fs::exists(path)) replace_file(path, bytes);
  }
};

struct Appends : Right {
  static void write(const std::string& path, const std::string& bytes) {
    replace_file(path, (fs::exists(path) ? read_all(path) : "") + bytes);
  }
};

[[maybe_unused]] const bool kAdded[] = {
    add_bug<Impl>({.name = "writes_in_place",
                   .belief = "a file that is opened for writing is written",
                   .hint = "What is at the path between the moment it is opened and the last byte, "
                           "and what if the process ends there?",
                   .caught_by = unsafe()},
                  made_of<WritesInPlace>()),
    add_bug<Impl>({.name = "removes_the_old_first",
                   .belief = "the old file has to go before the new one comes",
                   .hint = "The process ends while the new file is written. Which file is left?",
                   .caught_by = unsafe() - "an_open_file_stays_whole"},
                  made_of<RemovesTheOldFirst>()),
    add_bug<Impl>(
        {.name = "keeps_the_old_aside",
         .belief = "a copy of the old file makes it safe to write over it",
         .hint = "The process ends while the new file is written. What does a load of the "
                 "path find?",
         .caught_by = unsafe() - "an_open_file_stays_whole"},
        made_of<KeepsTheOldAside>()),
    add_bug<Impl>({.name = "copies_over",
                   .belief = "a copy is as good as a rename",
                   .hint = "How long does a copy take, and what is at the path meanwhile?",
                   .caught_by = {"an_open_file_stays_whole"}},
                  made_of<CopiesOver>()),
    add_bug<Impl>({.name = "renames_before_it_is_written",
                   .belief = "what was given to a stream is in the file",
                   .hint = "When does a stream write the last bytes of its buffer, and which name "
                           "does the file have by then?",
                   .caught_by = unsafe() - "an_open_file_stays_whole"},
                  made_of<RenamesBeforeItIsWritten>()),
    add_bug<Impl>({.name = "never_asks_the_stream",
                   .belief = "a stream throws when a write fails",
                   .hint = "What does std::ofstream do when the disk is full, unless you ask it?",
                   .caught_by = {"a_full_disk_is_told"}},
                  made_of<NeverAsksTheStream>()),
    add_bug<Impl>(
        {.name = "asks_before_the_flush",
         .belief = "a stream knows at once that a write failed",
         .hint = "Where are the last bytes when you ask the stream, and when does it try to "
                 "write them?",
         .caught_by = {"a_full_disk_is_told"}},
        made_of<AsksBeforeTheFlush>()),
    add_bug<Impl>({.name = "says_nothing_of_a_full_disk",
                   .belief = "the old checkpoint is there, so nobody has to know",
                   .hint = "How old will the newest checkpoint be when somebody needs it?",
                   .caught_by = {"a_full_disk_is_told"}},
                  made_of<SaysNothing>()),
    add_bug<Impl>({.name = "full_disk_by_another_exception",
                   .belief = "any exception will do",
                   .hint = "Which type does the contract name for a file that cannot be written?",
                   .caught_by = {"a_full_disk_is_told"}},
                  made_of<ThrowsALogicError>()),
    add_bug<Impl>({.name = "never_overwrites",
                   .belief = "a file that exists is to be left alone",
                   .hint = "How old is the checkpoint at the path after an hour of training?",
                   .caught_by = {"a_file_at_every_call", "a_newer_file_replaces_the_older",
                                 "a_full_disk_is_told"}},
                  made_of<NeverOverwrites>()),
    add_bug<Impl>({.name = "appends_to_the_file",
                   .belief = "a file is written at its end",
                   .hint = "Which of the checkpoints in the file does a load find first?",
                   .caught_by = {"a_file_at_every_call", "a_newer_file_replaces_the_older"}},
                  made_of<Appends>()),
};

}  // namespace
}  // namespace gradlab::resume_bugs
