#include "cli/watcher.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "cli/closed_book.hpp"
#include "cli/files.hpp"
#include "cli/process.hpp"
#include "cli/words.hpp"
#include "record/store.hpp"
#include "render/check_text.hpp"

namespace gradlab::cli {
namespace fs = std::filesystem;
namespace {

volatile sig_atomic_t resized = 0;
void on_resize(int) { resized = 1; }

constexpr char kKeys[] = "h hint  n next task  r rerun  o handout  l list  d diff  q quit";

std::string time_of_day() { return fmt::format("{:%H:%M:%S}", fmt::localtime(std::time(nullptr))); }

int columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

const record::Task* task_of(const Record& record, int id) {
  const auto found = std::find_if(record.tasks.begin(), record.tasks.end(),
                                  [id](const auto& task) { return task.id == id; });
  return found == record.tasks.end() ? nullptr : &*found;
}

// "clipping.2 small norm: fail, was pass", a line for each check that has another verdict.
std::string changed_verdicts(const Record& before, const Record& now) {
  std::string text;
  for (const auto& task : now.tasks) {
    const auto* old = task_of(before, task.id);
    if (old == nullptr) continue;
    for (const auto& check : task.checks) {
      const auto was = std::find_if(old->checks.begin(), old->checks.end(),
                                    [&](const auto& each) { return each.name == check.name; });
      if (was == old->checks.end() || was->verdict == check.verdict) continue;
      text += fmt::format("{}.{} {}: {}, was {}\n", now.lab, task.id, check.title,
                          record::to_string(check.verdict), record::to_string(was->verdict));
    }
  }
  return text;
}

}  // namespace

Watcher::Watcher(Session& session, const Settings& settings)
    : session_(session),
      settings_(settings),
      slug_(settings.slug),
      files_(session.workspace.work_file(settings.slug).parent_path(), settings.polling),
      keys_(!settings.plain && isatty(STDIN_FILENO) == 1) {
  struct sigaction action{};
  action.sa_handler = on_resize;  // no SA_RESTART: poll() is to return
  sigaction(SIGWINCH, &action, nullptr);
}

void Watcher::run() {
  check();
  for (;;) {
    pollfd from[2] = {{files_.descriptor(), POLLIN, 0}, {keys_.descriptor(), POLLIN, 0}};
    poll(from, 2, files_.patience());
    if (resized != 0) rewidth();
    if (from[1].revents != 0) {
      const auto key = keys_.next();
      if (key && !press(*key)) return;
    }
    look_at(files_.changes());
  }
}

void Watcher::look_at(const std::vector<SavedFiles::Change>& changes) {
  const auto slugs = session_.workspace.slugs();
  for (const auto& [file, kind] : changes) {
    const std::string slug = file.stem();
    const bool is_lab = std::find(slugs.begin(), slugs.end(), slug) != slugs.end();
    if (!is_lab || (settings_.only && slug != slug_)) continue;
    if (kind == SavedFiles::Kind::kGone) {
      if (slug != slug_) continue;
      print(
          fmt::format("{} is gone. It is checked when it is there again; ./gradlab start {} makes "
                      "a new one.\n",
                      session_.workspace.shown(file), slug));
      continue;
    }
    if (slug != slug_) task_.reset();
    slug_ = slug;
    check();
  }
}

void Watcher::check() {
  clear();
  print(fmt::format("{}  saved {}, checking\n", slug_, time_of_day()));
  try {
    auto& now = seen();
    if (!fs::exists(file())) return look_at({{file(), SavedFiles::Kind::kGone}});
    std::string text = read_whole(file());
    if (!now.check) {
      now.check = std::make_unique<OwnCheck>(session_, session_.workspace.find_lab(slug_));
    }
    OwnCheck::Order order;
    order.file = file();
    bool shown = false;
    auto record = now.check->run(order, [&](const Record& first) {
      shown = true;
      show_verdicts(first);
    });
    const auto view = now.check->view(file(), record);
    if (!shown) clear();  // it was refused before any check
    print(shown ? render::render_diagnoses(record, view) : render::render_check(record, view));
    now.check->keep(record);
    now.before = std::move(now.now);
    now.text_before = std::move(now.text);
    now.now = std::move(record);
    now.text = std::move(text);
    keys_line();
  } catch (const std::exception& error) {
    seen().check.reset();  // the lab or the build may have changed: looked at anew the next time
    tell(error);
    keys_line();
  }
}

void Watcher::show_verdicts(const Record& record) {
  auto view = seen().check->view(file());
  view.tips = false;
  clear();
  print(render::render_check(record, view));
}

void Watcher::show() {
  const auto& now = seen();
  clear();
  if (now.now && now.check) {
    print(render::render_check(*now.now, now.check->view(file(), *now.now)));
  }
  keys_line();
}

bool Watcher::press(char key) {
  switch (key) {
    case 'q':
      return false;
    case 'r':
      check();
      break;
    case 'n':
      next_task();
      break;
    case 'h':
      hint();
      break;
    case 'o':
      handout();
      break;
    case 'l':
      list();
      break;
    case 'd':
      changes();
      break;
    default:
      if (settings_.plain) keys_line();
  }
  return true;
}

int Watcher::task() {
  const auto& now = seen().now;
  if (task_) return *task_;
  const int next = now ? render::next_task(*now) : 0;
  return next != 0 ? next : 1;
}

// The next one that does not pass, after the one at hand and then from the front.
void Watcher::next_task() {
  const auto& now = seen().now;
  if (!now || !seen().check) return;
  std::vector<const record::Task*> open;
  for (const auto& each : now->tasks) {
    if (each.verdict != record::Verdict::kPass) open.push_back(&each);
  }
  clear();
  if (open.empty()) {
    print(fmt::format("All tasks of {} pass. ./gradlab start begins the next lab.\n", slug_));
    return keys_line();
  }
  const auto after =
      std::find_if(open.begin(), open.end(), [&](const auto* each) { return each->id > task(); });
  const auto& chosen = after == open.end() ? *open.front() : **after;
  task_ = chosen.id;
  Record alone = *now;
  std::erase_if(alone.tasks, [&](const auto& each) { return each.id != chosen.id; });
  print(render::render_check(alone, seen().check->view(file(), alone)));
  keys_line();
}

void Watcher::hint() {
  print("\n");
  try {
    show_hint(session_, fmt::format("{}.{}", slug_, task()));
  } catch (const std::exception& error) {
    tell(error);
  }
  keys_line();
}

void Watcher::handout() {
  try {
    refuse_help_while_closed(session_.workspace, slug_);
  } catch (const UsageError& error) {
    tell(error);
    return keys_line();
  }
  const auto path = session_.workspace.handout(slug_);
  const char* pager = getenv("PAGER");
  if (settings_.plain || !session_.options.terminal) {
    return print(fmt::format("{}\n", session_.workspace.shown(path)));
  }
  try {
    keys_.lend();
    run_through({pager != nullptr && *pager != '\0' ? pager : "less", path.string()},
                session_.workspace.root().string());
    keys_.take_back();
    show();
  } catch (const std::exception&) {  // no pager here
    keys_.take_back();
    print(fmt::format("Read {}\n", session_.workspace.shown(path)));
    keys_line();
  }
}

void Watcher::list() {
  clear();
  show_list(session_);
  keys_line();
}

void Watcher::changes() {
  const auto& now = seen();
  clear();
  if (!now.now || !now.before) {
    print("This is the first run: nothing to compare it with.\n");
    return keys_line();
  }
  const auto verdicts = changed_verdicts(*now.before, *now.now);
  print(verdicts.empty() ? "The verdicts are those of the run before.\n" : verdicts);
  if (now.text == now.text_before) {
    print("The file is the same.\n");
    return keys_line();
  }
  const auto folder = session_.workspace.state_dir() / "watch";
  fs::create_directories(folder);
  const auto old = folder / (slug_ + ".before.cpp"), current = folder / (slug_ + ".now.cpp");
  record::write_file(old, now.text_before);
  record::write_file(current, now.text);
  try {
    print(run_captured({"diff", "-u", "--label", "the run before", "--label", "this run",
                        old.string(), current.string()},
                       folder.string())
              .output);
  } catch (const std::exception& error) {
    tell(error);
  }
  keys_line();
}

void Watcher::rewidth() {
  resized = 0;
  session_.options = options_of_environment();
  show();
}

void Watcher::clear() const {
  if (settings_.plain || !session_.options.terminal) return;
  print("\x1b[H\x1b[2J");
}

void Watcher::keys_line() const {
  if (settings_.plain) return print("\n");
  std::string line = kKeys;
  line.resize(std::min(line.size(), static_cast<size_t>(std::max(columns() - 1, 1))));
  print("\n" + line + "\n");
}

}  // namespace gradlab::cli
