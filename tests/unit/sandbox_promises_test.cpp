// Every promise of a box is kept on this machine, and what isolation container does not promise is
// really open there: the list that reports show holds nothing that is not so.
#include "sandbox/promises.hpp"
#include "sandbox_fixture.hpp"

namespace gradlab::sandbox {
namespace {

using ::testing::IsEmpty;

INSTANTIATE_TEST_SUITE_P(Isolations, Box, ::testing::ValuesIn(all_isolations()), name_of);

std::string trial() {
  return (fs::canonical("/proc/self/exe").parent_path() / "sandbox_trial").string();
}

TEST_P(Box, keeps_what_it_promises) {
  Folder folder;  // the build folder may be closed to others
  fs::copy_file(trial(), folder / "trial");
  const auto tried = try_promises(GetParam(), folder / "trial");
  ASSERT_EQ(tried.size(), promises().size());
  for (const Tried& each : tried) {
    EXPECT_NE(each.kept, Kept::kBroken) << each.promise << ": " << each.why;
    if (GetParam() == Isolation::kFull) EXPECT_EQ(each.kept, Kept::kKept) << each.promise;
  }
}

TEST(Container, what_it_does_not_promise_is_open_and_told) {
  if (geteuid() != 0 || !probe_container().empty()) GTEST_SKIP() << probe_container();
  Folder folder;
  fs::copy_file(trial(), folder / "trial");
  const auto promised = try_promises(Isolation::kContainer, folder / "trial");
  const auto all = try_promises(Isolation::kContainer, folder / "trial", /*all=*/true);
  std::size_t open = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (promised[i].kept != Kept::kNotPromised) continue;
    EXPECT_EQ(all[i].kept, Kept::kBroken) << all[i].promise;
    ++open;
  }
  EXPECT_EQ(open, not_promised(Isolation::kContainer).size());
  EXPECT_THAT(not_promised(Isolation::kFull), IsEmpty());
}

TEST_P(Box, a_program_that_reaches_something_is_told_as_broken) {
  Folder folder;
  std::ofstream(folder / "trial") << "#!/bin/bash\necho the moon\necho tried\n";
  fs::permissions(folder / "trial", fs::perms(0755));
  for (const Tried& each : try_promises(GetParam(), folder / "trial")) {
    if (each.promise != "memory is bounded") continue;
    EXPECT_EQ(each.kept, Kept::kBroken);
    EXPECT_EQ(each.why, "the moon");
  }
}

// The trials can tell: without a box they reach what they are after.
TEST(Trials, reach_without_a_box_what_a_box_closes) {
  for (const char* words : {"read /etc/passwd", "sockets", "forks 32", "kernel", "shared_memory",
                            "see /etc/passwd", "path", "open_files 64"}) {
    const Result result =
        run(bash("GRADLAB_X=1 " + trial() + " " + words + "; :"), Isolation::kNone);
    EXPECT_THAT(result.output, AllOf(HasSubstr("tried\n"), Not(::testing::StartsWith("tried"))))
        << words;
  }
}

}  // namespace
}  // namespace gradlab::sandbox
