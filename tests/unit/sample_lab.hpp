// A small lab and records of it, for the tests of the record and of its renderings.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "manifest/manifest.hpp"
#include "record/record.hpp"

namespace gradlab::testing {

inline Manifest sample_lab() {
  Manifest lab;
  lab.slug = "clipping";
  lab.title = "Gradient clipping by global norm";
  lab.hand_in = {"clipping.cpp"};
  const std::string earning = "large_norm_is_scaled_as_one_vector";
  lab.tasks = {
      {1,
       "The norm of all gradients together",
       true,
       {},
       {{"norm_is_of_all_gradients", "norm is of all gradients", 4, false, ""}}},
      {2,
       "Clip in place",
       true,
       {},
       {{earning, "large norm is scaled as one vector", 3, false, ""},
        {"norm_before_clipping_is_returned", "the norm before clipping is returned", 2, false, ""},
        {"small_norm_is_left_alone", "small norm is left alone", 3, true, earning}}},
      {3,
       "Refuse what is not finite",
       true,
       {},
       {{"infinite_norm_throws", "infinite norm throws", 5, false, ""}}},
      {4,
       "Clip once warm-up is over",
       false,
       {},
       {{"nothing_changes_before", "nothing changes before", 1, true, "clips_from_the_step_on"},
        {"clips_from_the_step_on", "clips from the step on", 2, false, ""}}},
  };
  return lab;
}

inline nlohmann::json check_event(const std::string& name, const std::string& verdict) {
  return {
      {"event", "check"}, {"name", name}, {"verdict", verdict}, {"message", ""}, {"seconds", 0.01}};
}

inline void judge_all(Record& record, const std::string& verdict) {
  for (const record::Task& task : std::as_const(record).tasks) {
    for (const record::Check& check : task.checks) {
      record::apply(record, check_event(check.name, verdict));
    }
  }
}

inline Record unjudged(const std::string& student) {
  Record record = record::new_record(sample_lab(), {.student = student,
                                                    .seed = "8f3c",
                                                    .isolation = "full",
                                                    .public_seed = false,
                                                    .attempt = 1,
                                                    .only_task = std::nullopt});
  record.files = {{"clipping.cpp", std::string(64, 'a')}};
  record.grader = {"0.1.0", std::string(64, 'b'), "2.11.0", "AVX2", "clang 19.1.7"};
  record.timing = {0.41, 0.32, 0.9};
  return record;
}

// Every check has this verdict, with this message.
inline Record judged(const std::string& verdict, const std::string& message = "") {
  Record record = unjudged("ada");
  judge_all(record, verdict);
  for (record::Task& task : record.tasks) {
    for (record::Check& check : task.checks) check.message = message;
  }
  record::settle(record);
  return record;
}

// Every check passes.
inline Record right(const std::string& student) {
  Record record = unjudged(student);
  judge_all(record, "pass");
  record::settle(record);
  return record;
}

inline Record untouched(const std::string& student) {
  Record record = unjudged(student);
  judge_all(record, "not_started");
  record::settle(record);
  return record;
}

// Tasks 1 and 2 done; a small norm is scaled too, tolerance and all.
inline Record scales_always(const std::string& student) {
  Record record = unjudged(student);
  judge_all(record, "not_started");
  for (const char* name : {"norm_is_of_all_gradients", "large_norm_is_scaled_as_one_vector",
                           "norm_before_clipping_is_returned"}) {
    record.check(name)->came.reset();
    record::apply(record, check_event(name, "pass"));
  }
  record.check("norm_is_of_all_gradients")->closest = 0.2;
  record.check("small_norm_is_left_alone")->came.reset();
  auto event = check_event("small_norm_is_left_alone", "fail");
  event["failing"] = {{"case", {{"text", "one gradient [0.3], max_norm 1"}, {"number", 7}}},
                      {"place", "gradient of parameter 0"},
                      {"expected", "0.3 (unchanged)"},
                      {"got", "0.99999666"},
                      {"off_by", 0.69999666},
                      {"allowed", 0},
                      {"differing", {{"count", 1}, {"of", 1}}}};
  event["output"] = "norm = 0.3\n";
  record::apply(record, event);
  record::apply(record, {{"event", "verdicts_done"}});
  record::apply(record, {{"event", "diagnosis"},
                         {"check", "small_norm_is_left_alone"},
                         {"bug", "scales_always"},
                         {"belief", "clipping brings the norm to the limit"},
                         {"hint", "What should happen when the norm is already below the limit?"}});
  record::apply(record,
                {{"event", "end"}, {"student_output", "norm = 0.3\n"}, {"output_cut", false}});
  record::settle(record);
  return record;
}

inline Record does_not_compile(const std::string& student) {
  Record record = unjudged(student);
  record::refuse(record, Verdict::kCompileError, "does not compile",
                 {{"clipping.cpp",
                   23,
                   37,
                   "no member named 'size' in 'at::Tensor'",
                   {"   23 |   for (int64_t i = 0; i < p.grad().size(); ++i) {",
                    "      |                           ~~~~~~~~ ^"},
                   "a tensor's element count is numel()"}});
  record::settle(record);
  return record;
}

}  // namespace gradlab::testing
