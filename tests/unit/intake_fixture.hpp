// A class's folder and a lab of one small file, for the tests of the intake.
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "intake/intake.hpp"
#include "temp_folder.hpp"

namespace gradlab::testing {

namespace fs = std::filesystem;
using intake::Batch;
using intake::HandIn;
using intake::IntakeError;

class IntakeTest : public ::testing::Test {
 protected:
  IntakeTest() {
    lab_.slug = "clipping";
    lab_.hand_in = {"clipping.cpp"};
    lab_.limits.source_kib = 4;
    fs::create_directories(folder_.path() / "class");
    fs::permissions(folder_.path(), fs::perms(0755));
  }

  fs::path in_class() const { return folder_.path() / "class"; }
  void put(const fs::path& name, std::string_view bytes = "int x;\n") {
    folder_.write("class" / name, bytes);
  }
  Batch read() {
    work_ = folder_.path() / ("work" + std::to_string(reads_++));
    fs::create_directories(work_);
    return intake::read_hand_ins(in_class(), lab_, work_);
  }
  HandIn only() {
    Batch batch = read();
    EXPECT_EQ(batch.hand_ins.size(), 1u);
    return batch.hand_ins.at(0);
  }
  std::vector<std::string> students(const Batch& batch) {
    std::vector<std::string> names;
    names.reserve(batch.hand_ins.size());
    for (const HandIn& hand_in : batch.hand_ins) names.push_back(hand_in.student);
    return names;
  }
  std::string refusal() {
    return message_of<IntakeError>([&] { read(); });
  }

  TempFolder folder_;
  Manifest lab_;
  fs::path work_;
  int reads_ = 0;
};

}  // namespace gradlab::testing
