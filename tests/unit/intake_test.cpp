// Hand-ins from real folders: what is taken as whose, and what is refused with which words.
#include "intake/intake.hpp"

#include "intake_fixture.hpp"
#include "record/sha256.hpp"

namespace gradlab {
namespace {

namespace fs = std::filesystem;
using intake::Batch;
using intake::HandIn;
using intake::IntakeError;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IntakeTest;
using ::testing::IsEmpty;
using testing::message_of;

TEST_F(IntakeTest, one_folder_a_student) {
  put("bruno/clipping.cpp", "b");
  put("ada/clipping.cpp", "abc");
  const Batch batch = read();
  EXPECT_THAT(students(batch), ElementsAre("ada", "bruno"));
  EXPECT_EQ(batch.shape, "one folder a student");
  const HandIn& ada = batch.hand_ins[0];
  EXPECT_FALSE(ada.refused);
  EXPECT_THAT(ada.notes, IsEmpty());
  ASSERT_EQ(ada.files.size(), 1u);
  EXPECT_EQ(ada.files[0].name, "clipping.cpp");
  EXPECT_EQ(ada.files[0].path, work_ / "ada/clipping.cpp");
  EXPECT_EQ(ada.files[0].source, in_class() / "ada/clipping.cpp");
  EXPECT_EQ(ada.files[0].sha256, record::sha256("abc"));
  EXPECT_EQ(testing::read_text(ada.files[0].path), "abc");
}

TEST_F(IntakeTest, one_file_a_student) {
  put("ada.cpp", "a");
  put("bruno.cpp", "b");
  put("README.md");
  put("all.zip");
  const Batch batch = read();
  EXPECT_THAT(students(batch), ElementsAre("ada", "bruno"));
  EXPECT_EQ(batch.shape, "one file a student");
  EXPECT_EQ(testing::read_text(work_ / "bruno/clipping.cpp"), "b");
  EXPECT_THAT(batch.notes,
              ElementsAre("README.md is no hand-in and was left alone",
                          "all.zip is no hand-in and was left alone; unpack it first"));
}

TEST_F(IntakeTest, a_folder_that_is_one_hand_in) {
  put("clipping.cpp");
  put(".git/HEAD");
  const Batch batch = read();
  EXPECT_THAT(students(batch), ElementsAre("class"));
  EXPECT_EQ(batch.shape, "one hand-in");
  EXPECT_FALSE(batch.hand_ins[0].refused);
}

TEST_F(IntakeTest, hidden_files_are_nobodys) {
  put(".DS_Store");
  put("__MACOSX/._ada.cpp");
  put("ada/.git/HEAD");
  put("ada/clipping.cpp");
  const Batch batch = read();
  EXPECT_THAT(students(batch), ElementsAre("ada"));
  EXPECT_THAT(batch.hand_ins[0].notes, IsEmpty());
  EXPECT_THAT(batch.notes, IsEmpty());
}

TEST_F(IntakeTest, only_the_listed_files_are_taken) {
  for (const char* extra : {"CMakeLists.txt", "gtest/gtest.h", "judge.so", "clipping.hpp"}) {
    put(fs::path("ada") / extra);
  }
  put("ada/clipping.cpp");
  const HandIn ada = only();
  EXPECT_EQ(ada.files.size(), 1u);
  EXPECT_THAT(ada.notes, ElementsAre("left alone, not part of the hand-in: CMakeLists.txt, "
                                     "clipping.hpp, gtest/, judge.so"));
  EXPECT_EQ(std::distance(fs::recursive_directory_iterator(work_), {}), 2);  // ada/, clipping.cpp
}

TEST_F(IntakeTest, a_crowd_of_extras_is_counted) {
  for (int i = 0; i < 30; ++i) put("ada/x" + std::to_string(i) + ".txt");
  put("ada/clipping.cpp");
  EXPECT_THAT(only().notes[0], HasSubstr(" and 22 more"));
}

TEST_F(IntakeTest, the_only_source_file_is_taken_under_another_name) {
  put("ada/Clipping (1).cpp", "a");
  put("ada/notes.txt");
  const HandIn ada = only();
  EXPECT_FALSE(ada.refused);
  EXPECT_EQ(ada.files[0].name, "clipping.cpp");
  EXPECT_EQ(testing::read_text(work_ / "ada/clipping.cpp"), "a");
  EXPECT_THAT(ada.notes, ElementsAre("took Clipping (1).cpp as clipping.cpp",
                                     "left alone, not part of the hand-in: notes.txt"));
}

TEST_F(IntakeTest, of_two_source_files_neither_is_guessed) {
  put("ada/a.cpp");
  put("ada/b.cpp");
  const HandIn ada = only();
  ASSERT_TRUE(ada.refused);
  EXPECT_EQ(ada.refused->verdict, Verdict::kNotStarted);
  EXPECT_THAT(ada.refused->message, AllOf(HasSubstr("a.cpp, b.cpp"), HasSubstr("rename")));
  EXPECT_THAT(ada.files, IsEmpty());
}

TEST_F(IntakeTest, a_missing_file_is_not_started) {
  put("ada/notes.txt");
  fs::create_directories(in_class() / "bruno");
  const Batch batch = read();
  EXPECT_EQ(batch.hand_ins[0].refused->verdict, Verdict::kNotStarted);
  EXPECT_EQ(batch.hand_ins[0].refused->message, "clipping.cpp is missing; found only notes.txt");
  EXPECT_EQ(batch.hand_ins[1].refused->message, "clipping.cpp is missing; nothing was handed in");
}

TEST_F(IntakeTest, of_several_listed_files_each_is_needed) {
  lab_.hand_in = {"a.cpp", "b.cpp"};
  put("ada/a.cpp");
  put("ada/b.cpp");
  put("bruno/a.cpp");
  put("bruno/c.cpp");
  put("stray.cpp");
  const Batch batch = read();
  EXPECT_THAT(students(batch), ElementsAre("ada", "bruno"));
  EXPECT_EQ(batch.hand_ins[0].files.size(), 2u);
  EXPECT_THAT(batch.hand_ins[1].refused->message, HasSubstr("b.cpp is missing"));
  EXPECT_THAT(batch.notes, ElementsAre(HasSubstr("stray.cpp")));
}

struct Bytes {
  const char* name;
  std::string bytes;
  Verdict verdict;
  const char* says;
};

class BadText : public IntakeTest, public ::testing::WithParamInterface<Bytes> {};

TEST_P(BadText, is_refused) {
  put("ada/clipping.cpp", GetParam().bytes);
  const HandIn ada = only();
  ASSERT_TRUE(ada.refused);
  EXPECT_EQ(ada.refused->verdict, GetParam().verdict);
  EXPECT_THAT(ada.refused->message, HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Intake, BadText,
    ::testing::Values(
        Bytes{"empty", "", Verdict::kNotStarted, "clipping.cpp is empty"},
        Bytes{"blank", " \n\t\r\n", Verdict::kNotStarted, "clipping.cpp is empty"},
        Bytes{"binary",
              std::string("\x7F"
                          "ELF\0\1",
                          6),
              Verdict::kCompileError, "byte 5 is 0"},
        Bytes{"latin1", "int a;\n// caf\xE9\n", Verdict::kCompileError,
              "not UTF-8 text at byte 14 (line 2)"},
        Bytes{"utf16", std::string("\xFF\xFEi\0n\0", 6), Verdict::kCompileError, "UTF-16"},
        Bytes{"too_big", std::string(4 * 1024 + 1, 'x'), Verdict::kForbidden, "bigger than 4 KiB"}),
    [](const auto& each) { return each.param.name; });

TEST_F(IntakeTest, the_biggest_file_that_is_taken) {
  put("ada/clipping.cpp", std::string(4 * 1024, 'x'));
  EXPECT_FALSE(only().refused);
}

TEST_F(IntakeTest, a_huge_file_is_not_read) {
  put("ada/clipping.cpp");
  fs::resize_file(in_class() / "ada/clipping.cpp",
                  1ull << 40);  // sparse: reading it would take hours
  EXPECT_THAT(only().refused->message, HasSubstr("bigger than 4 KiB"));
}

TEST_F(IntakeTest, a_byte_order_mark_is_no_fault) {
  put("ada/clipping.cpp", "\xEF\xBB\xBFint x;");
  EXPECT_FALSE(only().refused);
}

TEST_F(IntakeTest, folders_that_are_none_have_their_own_messages) {
  EXPECT_THAT(refusal(), HasSubstr("class: is empty"));
  put(".git/HEAD");
  EXPECT_THAT(refusal(), HasSubstr("class: is empty"));
  put("notes.txt");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("holds no hand-in"), HasSubstr("clipping.cpp")));
  fs::remove_all(in_class());
  EXPECT_THAT(refusal(), HasSubstr("class: no such folder"));
  folder_.write("class", "a file");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("class: is a file, not a folder"), HasSubstr("--file")));
}

TEST_F(IntakeTest, a_work_folder_that_cannot_be_written_is_named) {
  put("ada/clipping.cpp");
  EXPECT_THAT(message_of<IntakeError>([&] { intake::read_hand_ins(in_class(), lab_, "/proc/no"); }),
              AllOf(HasSubstr("/proc/no/ada: cannot be written"), HasSubstr("TMPDIR")));
}

TEST_F(IntakeTest, one_file_by_name_follows_ones_own_link) {
  const auto file = folder_.write("mine.cpp", "m");
  fs::create_symlink(file, folder_.path() / "link.cpp");
  work_ = folder_.path() / "work";
  const HandIn mine = intake::read_file(folder_.path() / "link.cpp", lab_, "me", work_);
  EXPECT_FALSE(mine.refused);
  EXPECT_EQ(testing::read_text(mine.files.at(0).path), "m");
  EXPECT_EQ(mine.files[0].path.filename(), "clipping.cpp");
  EXPECT_THAT(message_of<IntakeError>(
                  [&] { intake::read_file(folder_.path() / "no.cpp", lab_, "me", work_); }),
              AllOf(HasSubstr("no.cpp: cannot be read"), HasSubstr("./gradlab start")));
  EXPECT_TRUE(intake::read_file(in_class(), lab_, "me", work_).refused);
}

}  // namespace
}  // namespace gradlab
