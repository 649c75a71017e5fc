#include "pipeline/batch.hpp"

#include <algorithm>
#include <mutex>
#include <system_error>
#include <thread>

namespace gradlab::pipeline {
namespace {

// Hands out indices to `jobs` threads, each with a Worker of its own. A box dies with the thread
// that started it, so every thread lives until the last of its hand-ins is done.
void in_parallel(const BatchRun& run, const std::function<bool(Worker&, size_t)>& work) {
  std::atomic<size_t> next{0};
  std::atomic<bool> stop{false};
  const auto body = [&] {
    Worker worker(run.lab, run.setup);
    while (!stop) {
      const size_t i = next++;
      if (i >= run.hand_ins.size()) return;
      if (!work(worker, i)) stop = true;
    }
  };
  std::vector<std::thread> threads;
  const size_t jobs = std::clamp<size_t>(static_cast<size_t>(run.jobs), 1, run.hand_ins.size());
  try {
    for (size_t t = 0; t < jobs; ++t) threads.emplace_back(body);
  } catch (const std::system_error&) {
    // The machine has no more threads to give: with fewer of them it takes longer.
    if (threads.empty()) body();
  }
  for (auto& thread : threads) thread.join();
}

Job job_for(const BatchRun& run, const intake::HandIn& hand_in) {
  Job job;
  job.hand_in = hand_in;
  job.start = {
      hand_in.student, run.folder.seed(), sandbox::to_string(run.setup.isolation), false, 1,
      std::nullopt};
  return job;
}

bool interrupted(const Setup& setup) { return setup.stop != nullptr && *setup.stop; }

Record failed_record(const BatchRun& run, const Job& job, const std::string& what) {
  Record record = record::new_record(run.lab, job.start);
  record::refuse(record, record::Verdict::kGraderError, what);
  record::settle(record);
  return record;
}

}  // namespace

BatchResult run_batch(const BatchRun& run) {
  BatchResult result;
  std::vector<std::optional<Record>> records(run.hand_ins.size());
  std::mutex mutex;
  const auto grader = describe_grader(run.lab, run.setup);
  in_parallel(run, [&](Worker& worker, size_t i) {
    if (interrupted(run.setup)) return false;
    const auto& hand_in = run.hand_ins[i];
    const Job job = job_for(run, hand_in);
    std::optional<Record> record = run.folder.earlier(hand_in.student);
    const bool holds = record && still_holds(*record, hand_in, run.folder.seed(), grader);
    if (!holds) {
      try {
        record = worker.grade(job);
      } catch (const std::exception& error) {
        record = failed_record(run, job, error.what());
      }
      if (interrupted(run.setup)) return false;  // it was cut off, not graded
    }
    const std::lock_guard lock(mutex);
    try {
      if (!holds) record = run.folder.keep(*record);
    } catch (const std::exception& error) {
      if (result.stopped.empty()) result.stopped = error.what();
      return false;
    }
    records[i] = record;
    if (run.on_record) run.on_record(*record, !holds);
    return true;
  });
  if (interrupted(run.setup)) result.stopped = "interrupted";
  for (auto& record : records) {
    if (record) result.records.push_back(std::move(*record));
  }
  return result;
}

std::vector<Audit> audit_batch(const BatchRun& run, const std::vector<std::string>& seeds,
                               const std::function<void(const std::string& student)>& on_done) {
  std::vector<Audit> audits(run.hand_ins.size());
  std::mutex mutex;
  in_parallel(run, [&](Worker& worker, size_t i) {
    if (interrupted(run.setup)) return false;
    auto audit = worker.audit(job_for(run, run.hand_ins[i]), seeds);
    const std::lock_guard lock(mutex);
    audits[i] = std::move(audit);
    if (on_done) on_done(run.hand_ins[i].student);
    return true;
  });
  return audits;
}

}  // namespace gradlab::pipeline
