#include "cli/own_check.hpp"

#include <fmt/format.h>

#include <fstream>

#include "cli/work_time.hpp"
#include "pipeline/work_folder.hpp"
#include "record/store.hpp"

namespace gradlab::cli {
namespace {

// The line of the student's file where a task's todo() stands, for "start with …"; 0 when it is
// gone.
int line_of_task(const std::string& file, const std::string& label) {
  std::ifstream in(file);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.find("todo(\"" + label + "\"") != std::string::npos) return number;
  }
  return 0;
}

intake::HandIn hand_in_of(const Manifest& lab, const std::string& file,
                          const pipeline::WorkFolder& copies) {
  return named_by_user([&] { return intake::read_file(file, lab, "you", copies.path()); });
}

}  // namespace

OwnCheck::OwnCheck(const Session& session, Manifest lab, const std::string& isolation)
    : session_(session),
      lab_(std::move(lab)),
      setup_(prepare_grader(session, lab_, /*own_file=*/true, isolation)),
      worker_(std::make_unique<pipeline::Worker>(lab_, setup_)) {}

void OwnCheck::look(const Manifest& lab, const std::string& file) {
  hand_in_of(lab, file, pipeline::WorkFolder());
}

Record OwnCheck::run(const Order& order, const OnVerdicts& on_verdicts) {
  note_work(session_.workspace, lab_.slug);
  const pipeline::WorkFolder copies;
  pipeline::Job job;
  job.hand_in = hand_in_of(lab_, order.file, copies);
  job.start = {"you",
               order.seed,
               sandbox::to_string(setup_.isolation),
               order.seed == kPublicSeed,
               1,
               order.task,
               order.shown_command};
  job.overlap = true;
  job.on_verdicts = on_verdicts;
  return worker_->grade(job);
}

render::CheckOptions OwnCheck::view(const std::string& file) const {
  render::CheckOptions view;
  view.colour = session_.options.colour;
  view.width = session_.options.width;
  view.file = session_.workspace.shown(file);
  return view;
}

render::CheckOptions OwnCheck::view(const std::string& file, const Record& record) const {
  auto view = this->view(file);
  view.line = line_of_task(file, fmt::format("{}.{}", lab_.slug, render::next_task(record)));
  return view;
}

void OwnCheck::keep(const Record& record) const {
  const auto last = session_.workspace.last_record(lab_.slug);
  std::filesystem::create_directories(last.parent_path());
  record::write_record(last, record);
}

}  // namespace gradlab::cli
