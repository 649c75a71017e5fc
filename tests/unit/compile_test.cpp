// A hand-in's way through the compiler: outcomes, the student's own lines, bombs, and what of the
// machine is out of reach. With clang and g++, isolated and not.
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>

#include "compile_fixture.hpp"

namespace gradlab::compile {
namespace {

struct Way {
  Isolation isolation;
  bool clang;
};

class Compile : public ::testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    skip_without(GetParam().isolation);
    if (!GetParam().clang && access("/usr/bin/g++", X_OK) != 0) GTEST_SKIP() << "no g++";
  }

  bool full() const { return GetParam().isolation == Isolation::kFull; }
  bool clang() const { return GetParam().clang; }
  Compiler compiler() const {
    const Toolchain& toolchain = tiny().toolchain;
    return {clang() ? toolchain : with_gcc(toolchain), GetParam().isolation};
  }
  std::unique_ptr<Built> compile(const std::string& source) { return compile(tiny().lab, source); }
  std::unique_ptr<Built> compile(const manifest::Manifest& lab, const std::string& source) {
    Compiler with = compiler();
    with.prepare(lab);
    return build(with, lab, source);
  }
};

INSTANTIATE_TEST_SUITE_P(Ways, Compile,
                         ::testing::Values(Way{Isolation::kFull, true}, Way{Isolation::kNone, true},
                                           Way{Isolation::kFull, false},
                                           Way{Isolation::kNone, false}),
                         [](const auto& param) {
                           return to_string(param.param.isolation) +
                                  (param.param.clang ? "_clang" : "_gcc");
                         });

const std::string kRight = "#include \"tiny.hpp\"\nint tiny::twice(int x) { return 2 * x; }\n";
std::string body(const std::string& code) {
  return "#include \"tiny.hpp\"\nint tiny::twice(int x) {\n" + code + "\n}\n";
}

// What the table says that twice(21) is; -1 without the function.
int answer_of(const Built& built) {
  void* library = dlopen(built.compiled.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return -2;
  int (*twice)(int) = nullptr;
  using Fill = void (*)(int (**)(int));
  reinterpret_cast<Fill>(dlsym(library, "gradlab_fill_table"))(&twice);
  const int answer = twice == nullptr ? -1 : twice(21);
  EXPECT_EQ(dlsym(library, "_ZN4tiny5twiceEi"), nullptr) << "exports more than its table";
  dlclose(library);
  return answer;
}

TEST_P(Compile, a_right_file_becomes_a_library) {
  const auto built = compile(kRight);
  ASSERT_EQ(built->compiled.outcome, Compiled::kOk) << ::testing::PrintToString(built->compiled);
  EXPECT_EQ(answer_of(*built), 42);
  EXPECT_THAT(built->compiled.diagnostics, IsEmpty());
  EXPECT_THAT(built->compiled.warnings, IsEmpty());
  EXPECT_GT(built->compiled.seconds, 0);
  EXPECT_GT(built->compiled.cpu_seconds, 0);
  EXPECT_EQ(built->compiled.note.empty(), clang());  // g++ is told to be the slower one
  int left = 0;
  for (const auto& entry : fs::directory_iterator(built->folder.path() / "out")) {
    EXPECT_EQ(entry.path().filename(), "student.so");
    ++left;
  }
  EXPECT_EQ(left, 1);
}

TEST_P(Compile, a_function_that_was_deleted_is_null) {
  const auto built = compile("");
  ASSERT_EQ(built->compiled.outcome, Compiled::kOk) << ::testing::PrintToString(built->compiled);
  EXPECT_EQ(answer_of(*built), -1);
}

TEST_P(Compile, warnings_do_not_fail) {
  const auto built = compile(body("if (x = 3) return 6;"));
  EXPECT_EQ(built->compiled.outcome, Compiled::kOk);
  ASSERT_FALSE(built->compiled.warnings.empty());
  EXPECT_EQ(built->compiled.warnings[0].file, "tiny.cpp");
  EXPECT_EQ(built->compiled.warnings[0].line, 3);
  EXPECT_THAT(built->compiled.warnings,
              Contains(Field(&Diagnostic::hint, "A path through this function has no return.")));
}

TEST_P(Compile, an_error_has_line_column_excerpt_and_caret) {
  const auto built = compile(body("  int y = 2 * z;\n  return y;"));
  EXPECT_EQ(built->compiled.outcome, Compiled::kCompileError);
  EXPECT_EQ(built->compiled.library, "");
  ASSERT_EQ(built->compiled.diagnostics.size(), 1u);
  const Diagnostic& error = built->error();
  EXPECT_EQ(error.file, "tiny.cpp");
  EXPECT_EQ(error.line, 3);
  EXPECT_EQ(error.column, 15);
  EXPECT_THAT(error.message, HasSubstr("'z'"));
  ASSERT_GE(error.excerpt.size(), 2u);
  EXPECT_THAT(error.excerpt[0], HasSubstr("int y = 2 * z;"));
  // The caret stands under the z.
  EXPECT_EQ(error.excerpt[1].find('^'), error.excerpt[0].find('z'));
}

TEST_P(Compile, an_error_in_a_header_is_told_at_the_students_line) {
  const auto built =
      compile(body("struct No {};\nstd::vector<No> all(3);\nstd::sort(all.begin(), all.end());\n"
                   "return x;"));
  EXPECT_EQ(built->compiled.outcome, Compiled::kCompileError);
  EXPECT_EQ(built->error().file, "tiny.cpp");
  EXPECT_EQ(built->error().line, 5);
}

TEST_P(Compile, five_errors_are_kept) {
  std::string code;
  for (int i = 0; i < 50; ++i) code += "x = missing_" + std::to_string(i) + ";\n";
  const auto built = compile(body(code));
  EXPECT_EQ(built->compiled.diagnostics.size(), 5u);
  EXPECT_EQ(built->error(4).line, 7);
}

TEST_P(Compile, takes_files_as_editors_write_them) {
  const std::string bom = "\xEF\xBB\xBF";
  EXPECT_EQ(compile(bom + kRight)->compiled.outcome, Compiled::kOk);
  EXPECT_EQ(compile(kRight.substr(0, kRight.size() - 1))->compiled.outcome, Compiled::kOk);
  std::string crlf;
  for (const char c : body("return 2 * z;")) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  const auto built = compile(crlf);
  EXPECT_EQ(built->error().line, 3);
  EXPECT_THAT(built->error().excerpt, Not(Contains(HasSubstr("\r"))));
}

TEST_P(Compile, survives_files_that_are_no_text) {
  const auto nul = compile(std::string("#include \"tiny.hpp\"\0\n\0", 22) + kRight);
  EXPECT_NE(nul->compiled.outcome, Compiled::kGraderError);
  std::string bytes;
  for (int i = 0; i < 20000; ++i) bytes += static_cast<char>((i * 7919) >> 3);
  const auto garbage = compile(bytes);
  EXPECT_EQ(garbage->compiled.outcome, Compiled::kCompileError);
  EXPECT_FALSE(garbage->compiled.diagnostics.empty());
  for (const char c : garbage->compiled.log) {
    EXPECT_TRUE(c == '\n' || c == '\t' || static_cast<unsigned char>(c) >= 0x20) << int{c};
  }
  const auto utf16 = compile(std::string("\xFF\xFEi\0n\0t\0 \0x\0;\0\n\0", 16));
  EXPECT_EQ(utf16->compiled.outcome, Compiled::kCompileError);
}

TEST_P(Compile, an_error_directive_and_a_missing_header_are_errors) {
  const auto error = compile("#error not finished yet\n" + kRight);
  EXPECT_EQ(error->compiled.outcome, Compiled::kCompileError);
  EXPECT_EQ(error->error().line, 1);
  EXPECT_THAT(error->error().message, HasSubstr("not finished yet"));
  const auto missing = compile("#include \"my_helpers.hpp\"\n" + kRight);
  EXPECT_EQ(missing->compiled.outcome, Compiled::kCompileError);
  EXPECT_THAT(missing->error().message, HasSubstr("my_helpers.hpp"));
  EXPECT_THAT(missing->error().hint, HasSubstr("Only this lab's header"));
}

TEST_P(Compile, forbidden_names_and_headers_are_refused) {
  const auto name = compile(body("int secret_word = x;\nreturn secret_word;"));
  EXPECT_EQ(name->compiled.outcome, Compiled::kForbidden);
  EXPECT_EQ(name->error().line, 3);
  EXPECT_THAT(name->compiled.note, HasSubstr("secret_word in line 3"));
  EXPECT_EQ(name->error().hint, "This lab asks you to write that yourself.");
  const auto header = compile("#include <torch/csrc/api/include/torch/jit.h>\n" + kRight);
  EXPECT_EQ(header->compiled.outcome, Compiled::kForbidden)
      << ::testing::PrintToString(header->compiled);
}

TEST_P(Compile, the_grader_is_out_of_reach) {
  for (const char* header : {"judge/subject.hpp", "checks/clipping/lists.hpp", "clipping.hpp",
                             "reference/clipping/answer.cpp", "lab.toml", "runner/lab.hpp"}) {
    const auto built = compile(std::string("#include \"") + header + "\"\n" + kRight);
    EXPECT_EQ(built->compiled.outcome, Compiled::kCompileError) << header;
    EXPECT_THAT(built->error().message, HasSubstr(header));
  }
}

TEST_P(Compile, the_host_is_out_of_reach) {
  if (!full()) return;
  for (const std::string& path :
       {std::string("/etc/passwd"), repository() + "/labs/clipping/lab.toml",
        std::string("/proc/self/environ"), std::string("/dev/zero")}) {
    const auto include = compile(fmt::format("#include \"{}\"\n{}", path, kRight));
    EXPECT_EQ(include->compiled.outcome, Compiled::kCompileError) << path;
    const auto incbin = compile(fmt::format("asm(\".incbin \\\"{}\\\"\");\n{}", path, kRight));
    EXPECT_EQ(incbin->compiled.outcome, Compiled::kCompileError) << path;
  }
}

TEST_P(Compile, cannot_take_the_tables_place) {
  const auto built = compile("extern \"C\" void gradlab_fill_table(void*) {}\n" + kRight);
  EXPECT_EQ(built->compiled.outcome, Compiled::kCompileError);
  EXPECT_THAT(built->error().message, HasSubstr("gradlab_fill_table"));
}

TEST_P(Compile, names_with_blanks_and_quotes_are_only_names) {
  TempFolder folder;
  const auto file = folder.write("my 'last' \"try\" $(false)/tiny  (2).cpp", kRight);
  const auto out = folder.path() / "an 'out' $(false) folder";
  fs::create_directories(out);
  Compiler with = compiler();
  with.prepare(tiny().lab);
  const auto compiled = with.compile(tiny().lab, file.string(), out.string());
  EXPECT_EQ(compiled.outcome, Compiled::kOk) << ::testing::PrintToString(compiled);
}

TEST_P(Compile, only_a_plain_file_is_read) {
  TempFolder folder;
  const auto out = folder.path() / "out";
  fs::create_directories(out);
  fs::create_symlink("/etc/passwd", folder.path() / "link.cpp");
  ASSERT_EQ(mkfifo((folder.path() / "pipe.cpp").c_str(), 0644), 0);
  Compiler with = compiler();
  with.prepare(tiny().lab);
  for (const char* name : {"link.cpp", "pipe.cpp", "none.cpp", "."}) {
    EXPECT_THROW(with.compile(tiny().lab, folder.path() / name, out), CompileError) << name;
  }
}

}  // namespace
}  // namespace gradlab::compile
