// What is written for a class: pages, grades.csv, junit.xml. Names and outputs of students are
// hostile here.
#include "render/report.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <regex>
#include <set>

#include "render/csv.hpp"
#include "render/isolation_text.hpp"
#include "render/junit.hpp"
#include "render/plots.hpp"
#include "sample_lab.hpp"
#include "temp_folder.hpp"

namespace gradlab {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::message_of;
using ::testing::Not;
using testing::read_text;
using testing::sample_lab;
using testing::TempFolder;

constexpr char kHostile[] = "<script>alert(1)</script>&\"'=\x1b[31m";

std::string csv_of(const std::vector<Record>& records) {
  return render::grades_csv(records, sample_lab());
}

TEST(Csv, has_a_row_a_student) {
  EXPECT_EQ(csv_of({testing::right("ada"), testing::scales_always("bruno"),
                    testing::does_not_compile("chioma")}),
            "student,score,max_score,verdict,clipping.1,clipping.2,clipping.3,clipping.4,isolation,"
            "seed,note\r\n"
            "ada,20,20,pass,4,8,5,3,full,8f3c,\r\n"
            "bruno,9,20,fail,4,5,0,0,full,8f3c,\r\n"
            "chioma,0,20,compile_error,0,0,0,0,full,8f3c,does not compile\r\n");
}

TEST(Csv, without_a_score_is_blank_and_no_zero) {
  Record record = testing::unjudged("ada");
  record::settle(record);
  EXPECT_THAT(csv_of({record}),
              HasSubstr("\r\nada,,20,grader_error,,,,,full,8f3c,no score: grader"));
}

TEST(Csv, no_cell_is_a_formula) {
  for (const char* name : {"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "'=1", "''=1",
                           "=HYPERLINK(\"http://x\",\"y\")", "=1,2", "=a;b"}) {
    Record record = testing::right(name);
    record.message = name;
    record.notes = {name};
    const std::string row = csv_of({record}).substr(csv_of({}).size());
    EXPECT_TRUE(row.starts_with('\'') || row.starts_with("\"'")) << row;
    EXPECT_THAT(row, AllOf(Not(HasSubstr(",=")), Not(HasSubstr(",\"=")), Not(HasSubstr(",+")),
                           Not(HasSubstr(",@"))));
    EXPECT_EQ(render::csv_restore(render::csv_neutral(name)), name);
  }
  for (const char* plain : {"ada", "o'brien", "'quoted'", "a=b", "", "1"}) {
    EXPECT_EQ(render::csv_neutral(plain), plain);
    EXPECT_EQ(render::csv_restore(plain), plain);
  }
}

TEST(Csv, no_cell_acts_on_a_terminal) {
  const std::string csv = csv_of({testing::right("\x1b[2J\x1b[32mfull\x07 \u202e")});
  EXPECT_THAT(csv, HasSubstr("\\x1b[2J\\x1b[32mfull"));
  EXPECT_EQ(csv.find_first_of("\x1b\x07"), std::string::npos);
  EXPECT_THAT(csv, Not(HasSubstr("\u202e")));
}

TEST(Csv, quotes_what_would_split_a_row) {
  EXPECT_THAT(csv_of({testing::right("O\"Neil, \"\nx")}),
              HasSubstr("\r\n\"O\"\"Neil, \"\"\nx\",20,"));
  EXPECT_THAT(csv_of({testing::right("\xFF")}), HasSubstr("\r\n\xEF\xBF\xBD,20,"));
}

TEST(JUnit, is_xml_whatever_a_student_wrote) {
  Record record = testing::scales_always(std::string(kHostile) + "\xFF\x01\xEF\xBF\xBE]]>");
  record.check("small_norm_is_left_alone")->failing->got = "]]>\x02<b>&amp;";
  Record crashed = testing::judged("crashed", "]]>\x03");
  crashed.student = "zoe";
  const std::string xml =
      render::junit_xml({record, testing::right("ada"), testing::does_not_compile("d"), crashed});
  EXPECT_THAT(xml, HasSubstr("tests=\"7\" failures=\"1\" errors=\"0\" skipped=\"3\""));
  if (std::system("/usr/bin/python3 -c '' 2>/dev/null") != 0) GTEST_SKIP() << "no python3";
  TempFolder folder;
  const auto path = folder.write("junit.xml", xml);
  const auto script = folder.write("read.py", R"(
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
suites = root.findall('testsuite')
assert [s.get('failures') for s in suites] == ['1', '0', '1', '7'], [s.attrib for s in suites]
assert suites[0].get('name').startswith('<script>alert(1)</script>&')
names = [c.get('classname') + c.get('name') for c in root.iter('testcase')]
assert len(names) == len(set(names)) == 7 + 7 + 8 + 7, names
)");
  EXPECT_EQ(std::system(("/usr/bin/python3 " + script.string() + " " + path.string()).c_str()), 0);
}

class Report : public ::testing::Test {
 protected:
  Report() {
    const char* root = std::getenv("GRADLAB_ROOT");
    options_.templates = fs::path(root ? root : ".") / "autograder/render/templates";
    hostile_ = testing::scales_always(kHostile);
    hostile_.student_output = kHostile;
    hostile_.message = kHostile;
    hostile_.notes = {kHostile};
    hostile_.check("small_norm_is_left_alone")->failing->got = kHostile;
    hostile_.check("small_norm_is_left_alone")->behaves_like->belief = kHostile;
  }

  void write(const std::vector<Record>& records) {
    render::write_report(records, sample_lab(), folder_.path(), options_);
  }
  std::string page(const fs::path& name) { return read_text(folder_.path() / "report" / name); }

  TempFolder folder_;
  render::ReportOptions options_;
  Record hostile_;
};

TEST_F(Report, every_link_leads_to_a_file) {
  write({testing::right("ada"), hostile_, testing::does_not_compile("a/../b c"),
         testing::untouched("José")});
  const std::regex link("(?:href|src)=\"([^\"#]+)[^\"]*\"");
  std::set<std::string> seen;
  const auto follow = [&](const fs::path& name) {
    const std::string text = page(name);
    for (std::sregex_iterator it(text.begin(), text.end(), link), end; it != end; ++it) {
      const std::string href = (*it)[1];
      const std::string file = std::regex_replace(href, std::regex("%25"), "%");
      EXPECT_TRUE(fs::is_regular_file(folder_.path() / "report" / name.parent_path() / file))
          << href;
      if (file.ends_with(".html")) seen.insert(fs::path(file).filename());
    }
  };
  follow("index.html");
  EXPECT_EQ(seen.size(), 4u);
  const auto pages = seen;
  for (const std::string& name : pages) {
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "0123456789._-%"),
              std::string::npos)
        << name;
    follow("students/" + name);
  }
}

TEST_F(Report, nothing_a_student_wrote_is_html) {
  options_.notes = {kHostile};
  options_.show_output = true;
  options_.chart_js = folder_.write("chart.js", "");
  write({hostile_});
  for (const fs::path& name :
       {fs::path("index.html"),
        fs::path("students/%3Cscript%3Ealert%281%29%3C%2Fscript%3E%26%22%27%3D%1B%5B31m.html")}) {
    const std::string text = page(name);
    EXPECT_THAT(text, AllOf(HasSubstr("&lt;script&gt;alert(1)"), HasSubstr("\\x1b[31m"),
                            Not(HasSubstr("<script>alert")), Not(HasSubstr("\x1b"))));
  }
}

TEST_F(Report, output_and_times_are_on_a_page_only_when_asked_for) {
  Record record = testing::scales_always("ada");
  record.student_output = "CASE 0.3";
  for (const bool shown : {false, true}) {
    options_.show_output = shown;
    write({record});
    const std::string text = page("students/ada.html");
    EXPECT_EQ(text.find("CASE 0.3") != std::string::npos, shown);
    EXPECT_EQ(text.find("judged in") != std::string::npos, shown);
    EXPECT_EQ(text.find("is not shown here") == std::string::npos, shown);
  }
}

TEST_F(Report, a_blocked_guard_is_explained) {
  Record record = testing::judged("pass");
  record.check("large_norm_is_scaled_as_one_vector")->came = Verdict::kFail;
  record::settle(record);
  write({record});
  EXPECT_THAT(page("students/ada.html"),
              HasSubstr("passes, but so does an answer that does nothing: it counts once "
                        "&apos;large norm is scaled as one vector&apos; passes"));
}

TEST_F(Report, a_hand_in_that_never_ran_has_no_list_of_checks) {
  write({testing::does_not_compile("chioma")});
  EXPECT_THAT(page("students/chioma.html"),
              AllOf(HasSubstr("clipping.cpp:23:37"), HasSubstr("numel()"), HasSubstr("blocked"),
                    Not(HasSubstr("class=\"checks\"")), Not(HasSubstr("href=\"#task"))));
}

TEST_F(Report, is_complete_without_chart_js) {
  write({testing::right("ada"), testing::scales_always("bruno")});
  EXPECT_FALSE(fs::exists(folder_.path() / "report/plots.js"));
  EXPECT_THAT(page("index.html"), AllOf(Not(HasSubstr("<script")), HasSubstr("As a table"),
                                        HasSubstr("brings the norm to the limit")));
  options_.chart_js = "/nowhere/chart.min.js";
  EXPECT_THAT(message_of<render::RenderError>([&] { write({testing::right("ada")}); }),
              HasSubstr("/nowhere/chart.min.js: cannot be read (No such file"));
}

TEST_F(Report, a_template_that_is_missing_or_broken_is_named) {
  TempFolder templates;
  for (const auto& file : fs::directory_iterator(options_.templates)) {
    fs::copy(file.path(), templates.path() / file.path().filename());
  }
  options_.templates = templates.path();
  templates.write("student.html", "{{#open}}");
  EXPECT_THAT(message_of<render::RenderError>([&] { write({testing::right("ada")}); }),
              HasSubstr("templates/student.html: is no template"));
  fs::remove(templates.path() / "index.html");
  EXPECT_THAT(message_of<render::RenderError>([&] { write({testing::right("ada")}); }),
              HasSubstr("index.html: cannot be read (No such file"));
  EXPECT_TRUE(fs::is_empty(folder_.path())) << "written before everything was read";
}

TEST(ScriptJson, cannot_end_its_script) {
  const std::string json = render::script_json({{"a", "</script><!--&\u2028é"}});
  EXPECT_EQ(json.find_first_of("<>&"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(json)["a"], "</script><!--&\u2028é");
}

TEST_F(Report, tells_what_a_weaker_isolation_does_not_promise) {
  Record record = testing::right("ada");
  EXPECT_EQ(render::render_not_promised({record}, 80), "");
  record.isolation = "container";
  const std::string sentence = "which files of the image exist";
  EXPECT_THAT(render::render_not_promised({testing::right("bruno"), record}, 60),
              AllOf(HasSubstr(sentence), HasSubstr("\n    ")));
  write({testing::right("bruno"), record});
  EXPECT_THAT(page("index.html"), HasSubstr(sentence));
  EXPECT_THAT(page("students/ada.html"), HasSubstr(sentence));
  EXPECT_THAT(page("students/bruno.html"), Not(HasSubstr("Not promised")));
}

}  // namespace
}  // namespace gradlab
