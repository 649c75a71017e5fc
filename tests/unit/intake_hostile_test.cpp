// Hostile hand-ins: nothing leads outside the work folder, nothing is opened that is no file, and
// what cannot be read is no fault of the student.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <set>

#include "intake_fixture.hpp"

namespace gradlab {
namespace {

namespace fs = std::filesystem;
using intake::Batch;
using intake::HandIn;
using intake::IntakeError;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IntakeTest;
using ::testing::IsEmpty;
using testing::message_of;

TEST_F(IntakeTest, links_pipes_sockets_and_devices_are_refused_unopened) {
  folder_.write("secret.cpp", "secret");
  for (const char* name : {"link", "dangling", "pipe", "socket", "dir", "device"}) {
    fs::create_directories(in_class() / name);
  }
  const auto file = [&](const char* name) { return in_class() / name / "clipping.cpp"; };
  fs::create_symlink(folder_.path() / "secret.cpp", file("link"));
  fs::create_symlink("/nowhere", file("dangling"));
  ASSERT_EQ(::mkfifo(file("pipe").c_str(), 0644), 0);
  fs::create_directories(file("dir"));
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  file("socket").string().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const bool device = ::mknod(file("device").c_str(), S_IFCHR | 0644, 0x103) == 0;  // /dev/null
  if (!device) fs::remove_all(in_class() / "device");

  const Batch batch = read();  // a pipe that was opened for reading would hang here
  ::close(fd);
  std::vector<std::string> messages;
  for (const HandIn& hand_in : batch.hand_ins) {
    ASSERT_TRUE(hand_in.refused) << hand_in.student;
    EXPECT_EQ(hand_in.refused->verdict, Verdict::kForbidden);
    EXPECT_THAT(hand_in.files, IsEmpty());
    messages.push_back(hand_in.refused->message);
  }
  EXPECT_EQ(messages.size(), device ? 6u : 5u);
  for (const char* kind : {"a symbolic link", "a named pipe", "a socket", "a folder"}) {
    EXPECT_THAT(messages, Contains(HasSubstr(kind)));
  }
  EXPECT_TRUE(fs::is_empty(work_));
}

TEST_F(IntakeTest, a_linked_student_is_refused_and_the_others_are_read) {
  folder_.write("outside/clipping.cpp", "secret");
  fs::create_directory_symlink(folder_.path() / "outside", in_class() / "mallory");
  fs::create_symlink(folder_.path() / "outside/clipping.cpp", in_class() / "trudy.cpp");
  put("ada/clipping.cpp");
  const Batch batch = read();
  EXPECT_THAT(students(batch), ElementsAre("ada", "mallory", "trudy.cpp"));
  EXPECT_FALSE(batch.hand_ins[0].refused);
  EXPECT_THAT(batch.hand_ins[1].refused->message, HasSubstr("symbolic link"));
  EXPECT_THAT(batch.hand_ins[2].refused->message, HasSubstr("symbolic link"));
}

TEST_F(IntakeTest, hostile_names_stay_inside_the_work_folder) {
  const std::vector<std::string> names = {"$(reboot)", "'; rm -rf ~ #", "a\nb",  "\"quoted\"",
                                          "=1+1",      "..\\..\\x",     "..a",   "-rf",
                                          "%2E",       "caf\xE9",       "<b>&x", "\x1b[31mred"};
  int visible = 0;
  for (const std::string& name : names) {
    put(fs::path(name) / "clipping.cpp");
    visible += name[0] != '.';
  }
  const Batch batch = read();
  EXPECT_EQ(batch.hand_ins.size(), static_cast<std::size_t>(visible));
  std::set<fs::path> copies;
  for (const HandIn& hand_in : batch.hand_ins) {
    ASSERT_EQ(hand_in.files.size(), 1u) << hand_in.student;
    const fs::path copy = hand_in.files[0].path;
    EXPECT_EQ(copy.parent_path().parent_path(), work_);
    const std::string stem = copy.parent_path().filename();
    EXPECT_EQ(stem.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "0123456789._-%"),
              std::string::npos);
    EXPECT_TRUE(copies.insert(copy).second) << "two students in one folder";
  }
  EXPECT_THAT(students(batch), Contains("caf%E9"));
  EXPECT_THAT(batch.notes,
              ElementsAre(HasSubstr("..\\..\\x is no hand-in"), HasSubstr("..a is no hand-in")))
      << "lost without a word";
}

TEST_F(IntakeTest, names_that_are_shown_alike_stay_two_students) {
  put("caf\xE9/clipping.cpp", "1");
  put("caf%E9/clipping.cpp", "2");
  put("ada/clipping.cpp", "3");
  put("ada.cpp", "4");
  const Batch batch = read();
  EXPECT_THAT(students(batch), ElementsAre("ada", "ada.cpp", "caf%E9", "caf%E9 (2)"));
  EXPECT_THAT(batch.hand_ins[1].notes, ElementsAre(HasSubstr("handed in twice")));
  EXPECT_EQ(batch.shape, "one folder or file a student");
  std::set<std::string> contents;
  for (const HandIn& hand_in : batch.hand_ins) {
    contents.insert(testing::read_text(hand_in.files.at(0).path));
  }
  EXPECT_EQ(contents.size(), 4u);
}

// What may be read is asked as an ordinary user: root may read everything.
class Ordinary {
 public:
  Ordinary() { changed_ = ::geteuid() == 0 && ::seteuid(65534) == 0; }
  ~Ordinary() {
    if (changed_ && ::seteuid(0) != 0) std::abort();
  }

 private:
  bool changed_;
};

TEST_F(IntakeTest, what_cannot_be_read_is_no_fault_of_the_student) {
  put("ada/clipping.cpp");
  put("bruno/clipping.cpp");
  put("chioma/clipping.cpp");
  put("dmitri/clipping.cpp");
  fs::permissions(in_class() / "ada/clipping.cpp", fs::perms(0));
  fs::permissions(in_class() / "bruno", fs::perms(0));
  fs::permissions(in_class() / "chioma", fs::perms(0444));  // may be listed, not entered
  work_ = folder_.path() / "work";
  fs::create_directories(work_);
  fs::permissions(work_, fs::perms(0777));
  Batch batch;
  {
    const Ordinary user;
    batch = intake::read_hand_ins(in_class(), lab_, work_);
  }
  ASSERT_EQ(batch.hand_ins.size(), 4u);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(batch.hand_ins[i].refused) << i;
    EXPECT_EQ(batch.hand_ins[i].refused->verdict, Verdict::kGraderError) << i;
    EXPECT_THAT(batch.hand_ins[i].refused->message,
                AllOf(HasSubstr("Permission denied"), HasSubstr("grade this hand-in again")));
  }
  EXPECT_FALSE(batch.hand_ins[3].refused);
  fs::permissions(in_class(), fs::perms(0));
  {
    const Ordinary user;
    EXPECT_THAT(message_of<IntakeError>([&] { intake::read_hand_ins(in_class(), lab_, work_); }),
                HasSubstr("class: cannot be read (Permission denied)"));
  }
  fs::permissions(in_class(), fs::perms(0755));
}

}  // namespace
}  // namespace gradlab
