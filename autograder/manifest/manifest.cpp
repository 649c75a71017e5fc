#include "manifest/manifest.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <tuple>

#include "manifest/errors.hpp"
#include "manifest/names.hpp"
#include "manifest/table_reader.hpp"

namespace gradlab::manifest {
namespace {

constexpr std::int64_t kMostPoints = 1000;

Limits read_limits(const toml::table* table, const std::string& origin) {
  Limits limits;
  if (table == nullptr) return limits;
  TableReader in(*table, origin, "limits");
  limits.compile_cpu_seconds = in.number_or("compile_cpu_seconds", limits.compile_cpu_seconds, 600);
  limits.case_cpu_seconds = in.number_or("case_cpu_seconds", limits.case_cpu_seconds, 600);
  limits.hand_in_seconds = in.number_or("hand_in_seconds", limits.hand_in_seconds, 3600);
  for (auto [key, value, most] : {
           std::tuple{"compile_memory_mib", &limits.compile_memory_mib, 65536},
           std::tuple{"compile_log_kib", &limits.compile_log_kib, 65536},
           std::tuple{"memory_mib", &limits.memory_mib, 65536},
           std::tuple{"output_kib", &limits.output_kib, 65536},
           std::tuple{"processes", &limits.processes, 4096},
           std::tuple{"source_kib", &limits.source_kib, 65536},
       }) {
    *value = in.whole_or(key, *value, 1, most);
  }
  in.finish();
  return limits;
}

Check read_check(const toml::table& table, const std::string& origin, const Manifest& lab) {
  TableReader in(table, origin, "a check");
  Check check;
  check.name = in.text("name");
  if (!is_snake(check.name)) {
    in.refuse("name", "lower-case letters, digits and '_'", "name the property the check holds");
  }
  if (lab.check(check.name) != nullptr) {
    in.refuse("name", "a name no other check of the lab has", "rename one of the two");
  }
  in.rename(fmt::format("check '{}'", check.name));
  std::string title = check.name;
  std::replace(title.begin(), title.end(), '_', ' ');
  check.title = in.text_or("title", title);
  check.points = static_cast<int>(in.whole("points", 1, kMostPoints));
  check.guard = in.flag_or("guard", false);
  check.needs = in.text_or("needs", "");
  check.regime = in.flag_or("regime", false);
  in.finish();
  if (check.guard && check.needs.empty()) {
    in.missing("needs", "needs = \"…\", the earning check that this guard waits for");
  }
  if (!check.guard && !check.needs.empty()) {
    in.refuse("needs", "left out of a check that is no guard", "add guard = true or take it out");
  }
  return check;
}

Task read_task(const toml::table& table, const std::string& origin, Manifest& lab) {
  TableReader in(table, origin, "a [[task]]");
  Task task;
  task.id = static_cast<int>(in.whole("id", 1, 99));
  if (lab.task(task.id) != nullptr) in.refuse("id", "a new one for each task", "number it anew");
  in.rename(fmt::format("[[task]] {}", task.id));
  task.title = in.text("title");
  task.core = in.flag("core");
  task.hints = in.texts_or_none("hints", "text", [](std::string_view s) { return !s.empty(); });
  // Checks are put into the lab one by one, so that a name is seen twice across tasks too.
  lab.tasks.push_back(task);
  for (const toml::table* check : in.tables("check")) {
    Check read = read_check(*check, origin, lab);
    lab.tasks.back().checks.push_back(std::move(read));
  }
  in.finish();
  task = std::move(lab.tasks.back());
  lab.tasks.pop_back();
  return task;
}

void check_needs(const toml::table& root, const std::string& origin, const Manifest& lab) {
  for (const toml::node& task : *root["task"].as_array()) {
    for (const toml::node& node : *task.as_table()->get("check")->as_array()) {
      TableReader in(*node.as_table(), origin, "a check");
      const std::string needs = in.text_or("needs", "");
      if (needs.empty()) continue;
      const Check* needed = lab.check(needs);
      if (needed == nullptr)
        in.refuse("needs", "a check of this lab", "name one that earns points");
      if (needed->guard) {
        in.refuse("needs", "a check that is no guard itself", "name one that earns points");
      }
    }
  }
}

Manifest read_root(const toml::table& root, const std::string& origin, std::string slug) {
  TableReader in(root, origin, "the lab");
  Manifest lab;
  lab.slug = std::move(slug);
  lab.title = in.text("title");
  lab.order = static_cast<int>(in.whole("order", 0, 100000));
  lab.minutes = static_cast<int>(in.whole("minutes", 1, 600));
  lab.hand_in = in.texts_or_none("hand_in", "a plain C++ file name", is_source_name);
  if (lab.hand_in.empty()) in.missing("hand_in", fmt::format("hand_in = [\"{}.cpp\"]", lab.slug));
  lab.libraries = in.texts_or_none("libraries", "the name of a folder in reference/", is_snake);
  lab.precompiled = in.texts_or_none("precompiled", "a header, as after #include", is_header);
  lab.optimised = in.flag_or("optimised", true);
  if (const toml::table* forbidden = in.table_or_null("forbidden")) {
    TableReader words(*forbidden, origin, "forbidden");
    lab.forbidden_headers =
        words.texts_or_none("headers", "a header, as after #include", is_header);
    lab.forbidden_names = words.texts_or_none("names", "a C++ name", is_cpp_name);
    words.finish();
  }
  lab.limits = read_limits(in.table_or_null("limits"), origin);
  const auto tasks = in.tables("task");
  in.finish();  // before the tasks: a misspelt key is the likelier cause of what follows
  for (const toml::table* table : tasks) {
    Task task = read_task(*table, origin, lab);
    lab.tasks.push_back(std::move(task));
  }
  check_needs(root, origin, lab);
  std::sort(lab.tasks.begin(), lab.tasks.end(),
            [](const Task& a, const Task& b) { return a.id < b.id; });
  return lab;
}

}  // namespace

int Task::max_points() const {
  int sum = 0;
  for (const Check& check : checks) sum += check.points;
  return sum;
}

int Manifest::max_points() const {
  int sum = 0;
  for (const Task& task : tasks) sum += task.max_points();
  return sum;
}

const Task* Manifest::task(int id) const {
  const auto found =
      std::find_if(tasks.begin(), tasks.end(), [&](const Task& t) { return t.id == id; });
  return found == tasks.end() ? nullptr : &*found;
}

const Task* Manifest::task_of(std::string_view name) const {
  for (const Task& task : tasks) {
    for (const Check& check : task.checks) {
      if (check.name == name) return &task;
    }
  }
  return nullptr;
}

const Check* Manifest::check(std::string_view name) const {
  for (const Task& task : tasks) {
    for (const Check& check : task.checks) {
      if (check.name == name) return &check;
    }
  }
  return nullptr;
}

Manifest read_manifest(const std::filesystem::path& lab_toml) {
  const auto directory = std::filesystem::absolute(lab_toml).parent_path();
  const std::string slug = directory.filename().string();
  const std::string origin = fmt::format("{}/{}/{}", directory.parent_path().filename().string(),
                                         slug, lab_toml.filename().string());
  if (std::filesystem::is_directory(lab_toml)) throw errors::no_file(origin, "it is a folder");
  std::ifstream file(lab_toml, std::ios::binary);
  if (!file) throw errors::no_file(origin, std::strerror(errno));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!is_snake(slug)) throw errors::bad_slug(origin, slug);
  toml::table root;
  try {
    root = toml::parse(text, origin);
  } catch (const toml::parse_error& error) {
    throw errors::syntax(fmt::format("{}:{}", origin, error.source().begin.line),
                         error.description());
  }
  Manifest lab = read_root(root, origin, slug);
  lab.directory = directory;
  return lab;
}

std::vector<Manifest> read_manifests(const std::filesystem::path& root) {
  std::vector<Manifest> labs;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(root / "labs", error)) {
    if (std::filesystem::exists(entry.path() / "lab.toml", error)) {
      labs.push_back(read_manifest(entry.path() / "lab.toml"));
    }
  }
  std::sort(labs.begin(), labs.end(), [](const Manifest& a, const Manifest& b) {
    return std::tie(a.order, a.slug) < std::tie(b.order, b.slug);
  });
  return labs;
}

}  // namespace gradlab::manifest
