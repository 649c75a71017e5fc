// Records on disk, and what a file is named and hashed by.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>

#include "record/sha256.hpp"
#include "record/store.hpp"
#include "record/utf8.hpp"
#include "sample_lab.hpp"
#include "temp_folder.hpp"

namespace gradlab {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::message_of;
using testing::TempFolder;

TEST(FileStem, keeps_plain_names_and_encodes_the_rest) {
  EXPECT_EQ(record::file_stem("ada-1.b_C"), "ada-1.b_C");
  EXPECT_EQ(record::file_stem("../etc"), "%2E.%2Fetc");
  EXPECT_EQ(record::file_stem("."), "%2E");
  EXPECT_EQ(record::file_stem(""), "%");
  EXPECT_EQ(record::file_stem("a b'\"\n;$`\\=*"), "a%20b%27%22%0A%3B%24%60%5C%3D%2A");
  EXPECT_EQ(record::file_stem("José"), "Jos%C3%A9");
  EXPECT_NE(record::file_stem("a b"), record::file_stem("a%20b"));
}

TEST(FileStem, long_names_are_cut_and_stay_different) {
  const std::string a = record::file_stem(std::string(300, 'x') + "1");
  const std::string b = record::file_stem(std::string(300, 'x') + "2");
  EXPECT_LE(a.size(), 120u);
  EXPECT_NE(a, b);
  EXPECT_EQ(record::file_stem(std::string(120, 'x')), std::string(120, 'x'));
}

TEST(Store, writes_and_reads_back) {
  TempFolder folder;
  const auto path = folder.path() / "bruno.json";
  const Record record = testing::scales_always("bruno");
  record::write_record(path, record);
  record::write_record(path, record);  // over an earlier one
  EXPECT_EQ(record::to_text(record::read_record(path)), record::to_text(record));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(Store, a_file_that_cannot_be_read_is_named) {
  TempFolder folder;
  EXPECT_THAT(message_of<RecordError>([&] { record::read_record(folder.path() / "no.json"); }),
              AllOf(HasSubstr("no.json"), HasSubstr("No such file")));
  EXPECT_THAT(message_of<RecordError>([&] { record::read_record(folder.path()); }),
              HasSubstr("it is a folder"));
}

TEST(Store, a_folder_that_is_not_there_is_named) {
  TempFolder folder;
  EXPECT_THAT(
      message_of<RecordError>([&] { record::write_file(folder.path() / "no/x.json", "x"); }),
      AllOf(HasSubstr("no/x.json: cannot be written (No such file"), HasSubstr("same command")));
}

// A file size limit fails the write as a full disk does: part of the bytes, then an error.
TEST(Store, a_full_disk_keeps_the_earlier_file) {
  TempFolder folder;
  const auto path = folder.write("ada.json", "earlier");
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 1000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message =
      message_of<RecordError>([&] { record::write_file(path, std::string(100000, 'x')); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_THAT(message, AllOf(HasSubstr("ada.json: cannot be written (File too large)"),
                             HasSubstr("Make room")));
  EXPECT_EQ(testing::read_text(path), "earlier");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1)
      << "a left-over";
}

TEST(Sha256, the_published_vectors) {
  EXPECT_EQ(record::sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(record::sha256("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(record::sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(record::sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Utf8, finds_the_first_byte_that_is_none) {
  for (const char* good : {"", "abc", "é", "€", "😀", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_FALSE(record::first_invalid_utf8(good)) << good;
  }
  for (const char* bad :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82", "\xFF"}) {
    EXPECT_EQ(record::first_invalid_utf8(std::string("ok") + bad), 2u);
  }
  EXPECT_EQ(record::valid_utf8("a\xFFz"), "a\xEF\xBF\xBDz");
}

}  // namespace
}  // namespace gradlab
