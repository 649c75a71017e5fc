#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "doctor/rounds.hpp"
#include "pipeline/work_folder.hpp"

namespace gradlab::doctor {
namespace fs = std::filesystem;
namespace {

using record::Verdict;

// A file of ours as a student's.
pipeline::Job job_of(const fs::path& file, const std::string& seed, const Place& place,
                     const pipeline::WorkFolder& copies) {
  pipeline::Job job;
  job.hand_in = intake::read_file(file, place.lab, file.stem(), copies.path());
  job.start = start_of(file.stem(), seed, place);
  job.diagnose = false;
  return job;
}

Problems look_at_right_answer(pipeline::Worker& worker, const Place& place, const fs::path& file,
                              int seed_count) {
  const auto all = seeds(seed_count);
  const pipeline::WorkFolder copies;
  const auto audit = worker.audit(job_of(file, "1", place, copies), all);
  size_t first = all.size();
  int lost = 0;
  for (size_t i = all.size(); i-- > 0;) {
    if (audit.not_passing[i].empty()) continue;
    first = i;
    ++lost;
  }
  if (lost == 0) return {};
  const std::string name = file.filename().string();
  // Once more by itself: an audit says which checks, a record why there is none.
  const Record record = worker.grade(job_of(file, all[first], place, copies));
  if (!record.score) return {fault("right answer " + name, record)};
  const auto why = record.message.empty()
                       ? fmt::format("loses {}", fmt::join(audit.not_passing[first], ", "))
                       : record.message;
  return {{fmt::format("right answer {}: {}, with {} of {} seeds, first {}", name, why, lost,
                       seed_count, all[first]),
           fmt::format("again: ./gradlab check {} --file tests/course/right/{}/{} --seed {}",
                       place.lab.slug, place.lab.slug, name, all[first])}};
}

}  // namespace

Round skeleton(const Place& place) {
  const auto look = [place](pipeline::Worker& worker) {
    const pipeline::WorkFolder copies;
    const auto file = place.lab.directory / (place.lab.slug + ".cpp");
    const Record record = worker.grade(job_of(file, "1", place, copies));
    Problems problems;
    for (const auto& task : record.tasks) {
      if (task.verdict == Verdict::kNotStarted) continue;
      problems.push_back({fmt::format("the skeleton's task {} is {}, not not_started{}{}", task.id,
                                      record::to_string(task.verdict),
                                      record.message.empty() ? "" : ": ", record.message),
                          fmt::format("its body should be: return gradlab::todo(\"{}.{}\", ...);",
                                      place.lab.slug, task.id),
                          task.verdict == Verdict::kGraderError});
    }
    return problems;
  };
  const size_t tasks = place.lab.tasks.size();
  return {{look}, [tasks](const std::vector<Problems>& found) {
            return fmt::format("skeleton not started on {} of {}", tasks - found.front().size(),
                               tasks);
          }};
}

Round right_answers(const Place& place, int seed_count) {
  Round round;
  const fs::path folder = fs::path(place.setup.root) / "tests/course/right" / place.lab.slug;
  std::vector<fs::path> files;
  if (fs::is_directory(folder)) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".cpp") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    round.jobs.push_back([place, file, seed_count](pipeline::Worker& worker) {
      return look_at_right_answer(worker, place, file, seed_count);
    });
  }
  if (files.empty()) {
    round.jobs.push_back([place](pipeline::Worker&) {
      return Problems{{"there is no right answer to show that one loses no point",
                       fmt::format("write some, each in another way: tests/course/right/{}/*.cpp",
                                   place.lab.slug)}};
    });
  }
  round.say = [count = files.size(), seed_count](const std::vector<Problems>& found) {
    return fmt::format("right answers {} of {} x {} seeds", good(found), count, seed_count);
  };
  return round;
}

}  // namespace gradlab::doctor
