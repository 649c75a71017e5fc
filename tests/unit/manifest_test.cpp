// lab.toml: what is read, and that each mistake is refused with file, line and key.
#include "manifest/manifest.hpp"

#include <gmock/gmock.h>

#include "temp_folder.hpp"

namespace gradlab {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::message_of;
using ::testing::StartsWith;
using testing::TempFolder;

constexpr char kGood[] = R"(title = "Gradient clipping by global norm"
order = 10
minutes = 45
hand_in = ["clipping.cpp"]
precompiled = ["torch/types.h"]
forbidden.headers = ["torch/nn/utils/clip_grad.h"]
forbidden.names = ["torch::nn::utils::clip_grad_norm_"]
limits.case_cpu_seconds = 3
[[task]]
id = 2
title = "Clip in place"
core = true
hints = ["Which tensors change?"]
check = [
  { name = "large_norm_is_scaled_as_one_vector", points = 3 },
  { name = "small_norm_is_left_alone", title = "a small norm stays", points = 3, regime = true, guard = true, needs = "large_norm_is_scaled_as_one_vector" },
]
[[task]]
id = 1
title = "The norm"
core = false
check = [{ name = "no_gradient_is_zero", points = 2, guard = true, needs = "large_norm_is_scaled_as_one_vector" }]
)";

class ManifestTest : public ::testing::Test {
 protected:
  Manifest read(const std::string& text, const std::string& slug = "x") {
    return manifest::read_manifest(folder_.write("labs/" + slug + "/lab.toml", text));
  }

  // kGood with one piece of it exchanged.
  std::string with(const std::string& from, const std::string& to) {
    std::string text = kGood;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }

  std::string refusal(const std::string& text) {
    return message_of<ManifestError>([&] { read(text); });
  }

  TempFolder folder_;
};

TEST_F(ManifestTest, every_key_arrives) {
  const Manifest lab = read(kGood, "clipping");
  EXPECT_EQ(lab.slug, "clipping");
  EXPECT_EQ(lab.title, "Gradient clipping by global norm");
  EXPECT_EQ(lab.order, 10);
  EXPECT_EQ(lab.minutes, 45);
  EXPECT_THAT(lab.hand_in, ElementsAre("clipping.cpp"));
  EXPECT_THAT(lab.precompiled, ElementsAre("torch/types.h"));
  EXPECT_THAT(lab.forbidden_headers, ElementsAre("torch/nn/utils/clip_grad.h"));
  EXPECT_THAT(lab.forbidden_names, ElementsAre("torch::nn::utils::clip_grad_norm_"));
  EXPECT_EQ(lab.limits.case_cpu_seconds, 3);
  EXPECT_EQ(lab.limits.source_kib, 256);  // a default
  EXPECT_EQ(lab.directory, folder_.path() / "labs/clipping");
  EXPECT_EQ(lab.max_points(), 8);
}

TEST_F(ManifestTest, tasks_come_by_number_with_their_checks) {
  const Manifest lab = read(kGood);
  ASSERT_EQ(lab.tasks.size(), 2u);
  EXPECT_EQ(lab.tasks[0].id, 1);
  EXPECT_FALSE(lab.tasks[0].core);
  EXPECT_EQ(lab.tasks[1].max_points(), 6);
  const manifest::Check& first = lab.tasks[1].checks[0];
  EXPECT_EQ(first.title, "large norm is scaled as one vector");
  EXPECT_FALSE(first.guard);
  const manifest::Check& guard = lab.tasks[1].checks[1];
  EXPECT_EQ(guard.title, "a small norm stays");
  EXPECT_TRUE(guard.guard);
  EXPECT_TRUE(guard.regime);
  EXPECT_FALSE(first.regime);
  EXPECT_EQ(guard.needs, first.name);
  EXPECT_EQ(lab.task_of("no_gradient_is_zero"), &lab.tasks[0]);
  EXPECT_EQ(lab.task(7), nullptr);
}

TEST_F(ManifestTest, hand_ins_are_optimised_unless_the_lab_says_otherwise) {
  EXPECT_TRUE(read(with("minutes = 45", "minutes = 45")).optimised);
  EXPECT_FALSE(read(with("minutes = 45", "minutes = 45\noptimised = false")).optimised);
}

TEST_F(ManifestTest, libraries_are_names_of_folders) {
  const auto using_library = [&](const std::string& name) {
    return with("minutes = 45", "minutes = 45\nlibraries = [\"" + name + "\"]");
  };
  EXPECT_THAT(read(using_library("amp")).libraries, ElementsAre("amp"));
  for (const char* none : {"../labs", "/etc", "A", ""}) {
    EXPECT_THAT(refusal(using_library(none)),
                HasSubstr("key 'libraries': must be the name of a folder in reference/"));
  }
}

TEST_F(ManifestTest, a_wrong_value_is_named_with_file_line_and_key) {
  EXPECT_EQ(refusal(with("vector\", points = 3", "vector\", points = -1")),
            "labs/x/lab.toml:15: key 'points': must be a whole number above 0, was -1; write "
            "points = 1");
}

TEST_F(ManifestTest, an_unknown_key_is_refused_with_the_likely_one) {
  EXPECT_THAT(refusal(with("vector\", points = 3", "vector\", ponits = 3")),
              StartsWith("labs/x/lab.toml:15: key 'ponits': is not known here; did you mean "
                         "'points'?"));
  EXPECT_THAT(refusal(with("minutes = 45", "minutes = 45\nminuets = 45")),
              StartsWith("labs/x/lab.toml:4: key 'minuets': is not known here; did you mean "
                         "'minutes'?"));
  EXPECT_THAT(refusal(with("minutes = 45", "minutes = 45\nauthor = 1")),
              HasSubstr("key 'author': is not known here; known: title, order, minutes"));
  EXPECT_THAT(refusal(with("forbidden.names", "forbidden.words")), HasSubstr("key 'words'"));
  EXPECT_THAT(refusal(with("case_cpu_seconds", "case_seconds")), HasSubstr("key 'case_seconds'"));
  EXPECT_THAT(refusal(with("core = true", "core = true\nweight = 1")), HasSubstr("key 'weight'"));
  EXPECT_THAT(refusal(with("points = 2,", "points = 2, weight = 1,")), HasSubstr("key 'weight'"));
}

struct Mistake {
  const char* name;
  const char* from;
  const char* to;
  const char* says;
};

class Mistakes : public ManifestTest, public ::testing::WithParamInterface<Mistake> {};

TEST_P(Mistakes, are_refused) {
  const Mistake& mistake = GetParam();
  EXPECT_THAT(refusal(with(mistake.from, mistake.to)),
              AllOf(StartsWith("labs/x/lab.toml:"), HasSubstr(mistake.says)));
}

INSTANTIATE_TEST_SUITE_P(
    Manifest, Mistakes,
    ::testing::Values(
        Mistake{"no_title", "title = \"Gradient clipping by global norm\"\n", "",
                "key 'title': is missing in the lab"},
        Mistake{"empty_title", "title = \"Clip in place\"", "title = \"\"", "key 'title'"},
        Mistake{"two_lines", "title = \"Clip in place\"", "title = \"Clip\\nin\"",
                "text of one line"},
        Mistake{"text_for_number", "order = 10", "order = \"ten\"", "was \"ten\""},
        Mistake{"half_points", "points = 2,", "points = 2.5,", "was 2.5"},
        Mistake{"zero_points", "points = 2,", "points = 0,", "above 0, was 0"},
        Mistake{"huge_points", "points = 2,", "points = 100000,", "at most 1000"},
        Mistake{"no_minutes", "minutes = 45", "minutes = 0", "key 'minutes'"},
        Mistake{"hand_in_missing", "hand_in = [\"clipping.cpp\"]\n", "", "key 'hand_in'"},
        Mistake{"hand_in_empty", "hand_in = [\"clipping.cpp\"]", "hand_in = []", "key 'hand_in'"},
        Mistake{"hand_in_outside", "[\"clipping.cpp\"]", "[\"../clipping.cpp\"]", "key 'hand_in'"},
        Mistake{"hand_in_twice", "[\"clipping.cpp\"]", "[\"a.cpp\", \"a.cpp\"]",
                "same entry twice"},
        Mistake{"hand_in_text", "[\"clipping.cpp\"]", "\"clipping.cpp\"", "an array of text"},
        Mistake{"header_outside", "torch/types.h", "../../etc/passwd", "key 'precompiled'"},
        Mistake{"header_absolute", "torch/types.h", "/etc/passwd", "key 'precompiled'"},
        Mistake{"header_quoted", "torch/types.h", "a>\\n#define x", "key 'precompiled'"},
        Mistake{"name_is_code", "torch::nn::utils::clip_grad_norm_", "f() {}", "key 'names'"},
        Mistake{"forbidden_text",
                "forbidden.headers = [\"torch/nn/utils/clip_grad.h\"]\n"
                "forbidden.names = [\"torch::nn::utils::clip_grad_norm_\"]",
                "forbidden = \"all\"", "key 'forbidden': must be a table"},
        Mistake{"limit_zero", "case_cpu_seconds = 3", "case_cpu_seconds = 0", "above 0"},
        Mistake{"limit_nan", "case_cpu_seconds = 3", "case_cpu_seconds = nan", "was nan"},
        Mistake{"limit_negative", "limits.case_cpu_seconds = 3", "limits.processes = -3", "was -3"},
        Mistake{"id_twice", "id = 1\n", "id = 2\n", "a new one for each task"},
        Mistake{"id_zero", "id = 1\n", "id = 0\n", "key 'id'"},
        Mistake{"core_text", "core = true", "core = \"yes\"", "true or false"},
        Mistake{"core_missing", "core = true\n", "", "key 'core': is missing in [[task]] 2"},
        Mistake{"no_checks", "check = [{ name = \"no_gradient_is_zero\"", "x = [{ name = \"a\"",
                "at least one check"},
        Mistake{"check_is_text",
                "check = [{ name = \"no_gradient_is_zero\", points = 2, guard = "
                "true, needs = \"large_norm_is_scaled_as_one_vector\" }]",
                "check = [\"a\"]", "must be a table"},
        Mistake{"check_name", "name = \"no_gradient_is_zero\"", "name = \"No Gradient\"",
                "key 'name'"},
        Mistake{"check_twice", "name = \"no_gradient_is_zero\"",
                "name = \"small_norm_is_left_alone\"", "no other check of the lab has"},
        Mistake{"guard_without_needs",
                "guard = true, needs = \"large_norm_is_scaled_as_one_vector\" },",
                "guard = true },", "key 'needs': is missing"},
        Mistake{"needs_without_guard",
                "guard = true, needs = \"large_norm_is_scaled_as_one_vector\" },",
                "needs = \"large_norm_is_scaled_as_one_vector\" },", "a check that is no guard"},
        Mistake{"needs_unknown", "needs = \"large_norm_is_scaled_as_one_vector\" }]",
                "needs = \"large_norm\" }]", "a check of this lab"},
        Mistake{"needs_a_guard", "needs = \"large_norm_is_scaled_as_one_vector\" }]",
                "needs = \"small_norm_is_left_alone\" }]", "no guard itself"},
        Mistake{"syntax", "order = 10", "order = ", "is not TOML"},
        Mistake{"key_twice", "order = 10", "order = 10\norder = 11", "is not TOML"}),
    [](const auto& each) { return each.param.name; });

TEST_F(ManifestTest, a_missing_or_empty_file_has_its_own_message) {
  const auto none = folder_.path() / "labs/y/lab.toml";
  EXPECT_THAT(message_of<ManifestError>([&] { manifest::read_manifest(none); }),
              AllOf(HasSubstr("labs/y/lab.toml: cannot be read (No such file"),
                    HasSubstr("./gradlab new")));
  EXPECT_THAT(refusal(""), HasSubstr("key 'title': is missing"));
  EXPECT_THAT(message_of<ManifestError>([&] { read(kGood, "Bad-Slug"); }), HasSubstr("no slug"));
}

TEST_F(ManifestTest, all_labs_come_in_order_and_common_is_none) {
  folder_.write("labs/common/task.hpp", "");
  folder_.write("labs/late/lab.toml", with("order = 10", "order = 20"));
  folder_.write("labs/b/lab.toml", kGood);
  folder_.write("labs/a/lab.toml", kGood);
  std::vector<std::string> slugs;
  for (const Manifest& lab : manifest::read_manifests(folder_.path())) slugs.push_back(lab.slug);
  EXPECT_THAT(slugs, ElementsAre("a", "b", "late"));
  EXPECT_TRUE(manifest::read_manifests(folder_.path() / "nowhere").empty());
}

}  // namespace
}  // namespace gradlab
