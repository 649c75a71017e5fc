#include "drills/progress.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace gradlab::drills {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kFormat[] = "gradlab drills";
constexpr std::int64_t kMost = 1'000'000'000;

struct Damaged {};

std::int64_t whole(const Json& from, const char* key) {
  const auto found = from.find(key);
  if (found == from.end() || !found->is_number_integer()) throw Damaged();
  const auto value = found->get<std::int64_t>();
  if (value < 0 || value > kMost) throw Damaged();
  return value;
}

Item item_of(const Json& from) {
  Item item;
  item.seen = whole(from, "seen");
  item.right = whole(from, "right");
  item.repetitions = whole(from, "repetitions");
  item.interval = whole(from, "interval");
  const auto ease = from.find("ease"), last = from.find("last");
  if (ease == from.end() || !ease->is_number() || last == from.end() || !last->is_string()) {
    throw Damaged();
  }
  item.ease = ease->get<double>();
  const auto day = day_of(last->get<std::string>());
  if (!day || !(item.ease >= 1.3 && item.ease < 100) || item.right > item.seen) throw Damaged();
  item.last = *day;
  return item;
}

Progress progress_of(const Json& json) {
  Progress progress;
  const auto items = json.find("items"), mistakes = json.find("mistakes");
  if (items == json.end() || !items->is_object()) throw Damaged();
  if (mistakes == json.end() || !mistakes->is_object()) throw Damaged();
  for (const auto& [name, item] : items->items()) {
    if (!item.is_object()) throw Damaged();
    progress.items[name] = item_of(item);
  }
  for (const auto& [name, count] : mistakes->items()) {
    progress.mistakes[name] = whole(*mistakes, name.c_str());
  }
  return progress;
}

ReadProgress broken(Fault fault) {
  ReadProgress read;
  read.fault = fault;
  return read;
}

}  // namespace

std::string to_json(const Progress& progress) {
  Json json = {{"format", kFormat}, {"version", Progress::kVersion}};
  json["items"] = Json::object();
  for (const auto& [name, item] : progress.items) {
    json["items"][name] = {{"seen", item.seen},         {"right", item.right},
                           {"ease", item.ease},         {"repetitions", item.repetitions},
                           {"interval", item.interval}, {"last", date_of(item.last)}};
  }
  json["mistakes"] = Json::object();
  for (const auto& [name, count] : progress.mistakes) json["mistakes"][name] = count;
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

ReadProgress read_progress(const std::string& text, Day today) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("format", Json()) != kFormat) return broken(Fault::kDamaged);
  const auto version = json.find("version");
  if (version == json.end() || !version->is_number_integer()) return broken(Fault::kDamaged);
  if (version->get<std::int64_t>() > Progress::kVersion) return broken(Fault::kNewer);
  try {
    ReadProgress read;
    read.progress = progress_of(json);
    for (auto& [name, item] : read.progress.items) {
      read.mended = read.mended || item.last > today;
      mend_clock(item, today);
    }
    return read;
  } catch (const Damaged&) {
    return broken(Fault::kDamaged);
  }
}

std::optional<Lock> Lock::take(const std::filesystem::path& file) {
  const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) {
    throw std::filesystem::filesystem_error("cannot be made", file,
                                            {errno, std::generic_category()});
  }
  if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) return Lock(descriptor);
  close(descriptor);
  return std::nullopt;
}

Lock::Lock(Lock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Lock::~Lock() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace gradlab::drills
