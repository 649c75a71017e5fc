// The clipping lab's hand-ins through the compiler: what is forbidden however it is written, what
// links, what is slow and says so, and the words for the errors that students of LibTorch meet
// most.
#include <dlfcn.h>
#include <unistd.h>

#include "compile_fixture.hpp"

namespace gradlab::compile {
namespace {

manifest::Manifest clipping() {
  return manifest::read_manifest(repository() + "/labs/clipping/lab.toml");
}

// The tree's own cache, since this header takes 15 s; a table that the build made for this test.
Toolchain toolchain(const TempFolder& folder) {
  Toolchain toolchain = toolchain_in(folder.path());
  const std::string cache = repository() + "/.gradlab/cache/pch";
  if (access(cache.c_str(), W_OK) == 0) toolchain.cache = cache;
  fs::create_directories(toolchain.tables);
  fs::copy_file(GRADLAB_TABLE, toolchain.tables + "/clipping.o");
  fs::permissions(toolchain.tables + "/clipping.o", fs::perms(0644));
  return toolchain;
}

class LabTest {
 protected:
  virtual ~LabTest() = default;
  virtual Isolation isolation() const = 0;

  std::unique_ptr<Built> compile(const std::string& source) {
    static const TempFolder folder;
    static const Toolchain tools = toolchain(folder);
    static const manifest::Manifest lab = clipping();
    Compiler compiler(tools, isolation());
    compiler.prepare(lab);
    return build(compiler, lab, source);
  }
  // `code` is the body of task 1, `before` stands above it.
  std::unique_ptr<Built> compile_norm(const std::string& code, const std::string& before = "") {
    return compile(before + "#include \"clipping.hpp\"\n" +
                   "double clipping::total_norm(const std::vector<torch::Tensor>& p) {\n" + code +
                   "\n}\n");
  }
};

class Lab : public LabTest, public ::testing::TestWithParam<Isolation> {
 protected:
  void SetUp() override { skip_without(GetParam()); }
  Isolation isolation() const override { return GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(Isolations, Lab, ::testing::Values(Isolation::kFull, Isolation::kNone),
                         [](const auto& param) { return to_string(param.param); });

// Where the isolation makes no difference, and compiling takes long.
class OneLab : public LabTest, public ::testing::Test {
 protected:
  Isolation isolation() const override { return sandbox::probe().best; }
};

// What the runner's dlopen would say, in a process that has LibTorch; empty when it opens.
std::string load_error(const Built& built) {
  void* library = dlopen(built.compiled.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return dlerror();
  dlclose(library);
  return "";
}

TEST_P(Lab, the_skeleton_compiles) {
  const auto built =
      compile(gradlab::testing::read_text(repository() + "/labs/clipping/clipping.cpp"));
  ASSERT_EQ(built->compiled.outcome, Compiled::kOk) << ::testing::PrintToString(built->compiled);
  EXPECT_EQ(load_error(*built), "");
  EXPECT_EQ(built->compiled.note, "");
}

TEST_P(Lab, templates_of_libtorch_link) {
  const auto built = compile_norm(
      "double sum = 0;\n"
      "for (const auto& x : p) {\n"
      "  sum += *x.const_data_ptr<float>() + *x.const_data_ptr<double>() + *x.data_ptr<float>();\n"
      "  *x.mutable_data_ptr<float>() = x.item<float>() + x.accessor<float, 1>()[0];\n"
      "  sum += torch::_foreach_norm({x})[0].item<double>() + x.to(torch::kHalf).numel();\n"
      "}\n"
      "if (sum > 3) TORCH_CHECK(false, \"no\", sum);\n"
      "torch::Tensor y = torch::cat({torch::zeros(3), torch::ones({3})});\n"
      "return (y * 2 + 1).norm().item().toDouble() + sum;");
  ASSERT_EQ(built->compiled.outcome, Compiled::kOk) << ::testing::PrintToString(built->compiled);
  EXPECT_EQ(load_error(*built), "");
}

// However the name gets there, a call of the library's own clipping is refused.
TEST_P(Lab, the_librarys_clipping_is_forbidden) {
  const std::string call = "return torch::nn::utils::clip_grad_norm_(p, 1.0);";
  struct Way {
    const char* what;
    std::string code;
    std::string before;
  };
  const Way ways[] = {
      {"plain", call, ""},
      {"header", call, "#include <torch/nn/utils/clip_grad.h>\n"},
      {"next header", call, "#include_next <torch/nn/utils/clip_grad.h>\n"},
      {"using", "using torch::nn::utils::clip_grad_norm_;\nreturn clip_grad_norm_(p, 1.0);", ""},
      {"alias", "return u::clip_grad_norm_(p, 1.0);",
       "#include <torch/types.h>\nnamespace torch::nn::utils {}\nnamespace u = "
       "torch::nn::utils;\n"},
      {"pasted", "return torch::nn::utils::PASTE(clip_gr, ad_norm_)(p, 1.0);",
       "#define PASTE(a, b) a##b\n"},
      {"macros against the mask", call,
       "#define GRADLAB_FORBIDDEN\n#define unavailable(x) used\n#include \"clipping.hpp\"\n"
       "#undef unavailable\n"},
      {"pragma", call,
       "#pragma GCC system_header\n#pragma clang diagnostic ignored \"-Weverything\"\n"},
      {"pointer",
       "auto* f = static_cast<double (*)(const std::vector<torch::Tensor>&, double, double, "
       "bool)>(torch::nn::utils::clip_grad_norm_);\nreturn f(p, 1, 2, false);",
       ""},
      {"template", "return later(p);",
       "#include <torch/types.h>\ntemplate <class T> double later(const T& p) {\n"
       "  return torch::nn::utils::clip_grad_norm_(p, 1.0);\n}\n"},
      {"declared by hand", "return torch::nn::utils::clip_grad_norm_(p, 1.0, 2.0, false);",
       "#include <torch/types.h>\nnamespace torch::nn::utils {\n"
       "double clip_grad_norm_(const std::vector<Tensor>& p, double m, double t, bool e);\n}\n"},
      {"by value", "torch::nn::utils::clip_grad_value_(p, 1.0);\nreturn 0;", ""},
  };
  for (const Way& way : ways) {
    const auto built = compile_norm(way.code, way.before);
    EXPECT_EQ(built->compiled.outcome, Compiled::kForbidden)
        << way.what << ": " << ::testing::PrintToString(built->compiled);
    EXPECT_THAT(built->compiled.note, HasSubstr("which this lab asks you to write")) << way.what;
    EXPECT_THAT(built->compiled.note, HasSubstr("clip_grad_")) << way.what;
  }
}

// These name a function behind the compiler's back; but LibTorch exports none, so nothing links.
TEST_P(Lab, a_symbol_declared_by_hand_leads_nowhere) {
  const auto label = compile_norm(
      "return mine(p, 1.0, 2.0, false);",
      "#include <torch/types.h>\n"
      "double mine(const std::vector<torch::Tensor>&, double, double, bool)\n"
      "    "
      "__asm__(\"_ZN5torch2nn5utils15clip_grad_norm_ERKSt6vectorIN2at6TensorESaIS4_EEddb\");\n");
  ASSERT_EQ(label->compiled.outcome, Compiled::kOk) << ::testing::PrintToString(label->compiled);
  EXPECT_THAT(load_error(*label), HasSubstr("undefined symbol"));
  // What is unavailable itself may use what is unavailable.
  const auto caller =
      compile_norm("return through(p);",
                   "#include <torch/types.h>\n"
                   "double through(const std::vector<torch::Tensor>& p) __asm__(\"through\");\n"
                   "extern \"C\" __attribute__((unavailable(\"\"), used)) double through_c(\n"
                   "    const std::vector<torch::Tensor>& p) __asm__(\"through\");\n"
                   "double through_c(const std::vector<torch::Tensor>& p) {\n"
                   "  return torch::nn::utils::clip_grad_norm_(p, 1.0);\n}\n");
  if (caller->compiled.outcome == Compiled::kOk) {
    EXPECT_THAT(load_error(*caller), HasSubstr("undefined symbol"));
  }
}

TEST_F(OneLab, writing_ones_own_function_of_that_name_is_allowed) {
  const auto built = compile_norm(
      "return mine::clip_grad_norm_(p);",
      "#include <torch/types.h>\nnamespace mine {\n"
      "double clip_grad_norm_(const std::vector<torch::Tensor>& p) { return p.size(); }\n}\n");
  EXPECT_EQ(built->compiled.outcome, Compiled::kOk) << ::testing::PrintToString(built->compiled);
}

TEST_F(OneLab, all_of_torch_compiles_and_says_why_it_is_slow) {
  const auto built = compile_norm("return torch::nn::Linear(2, 2)->weight.norm().item<double>();",
                                  "#include <torch/torch.h>\n");
  ASSERT_EQ(built->compiled.outcome, Compiled::kOk) << ::testing::PrintToString(built->compiled);
  EXPECT_TRUE(built->compiled.heavy_header);
  EXPECT_THAT(built->compiled.note, AllOf(HasSubstr("torch/torch.h"), HasSubstr("half a second")));
  EXPECT_EQ(load_error(*built), "");
  // Its own clipping is still not to be had.
  EXPECT_EQ(compile_norm("return torch::nn::utils::clip_grad_norm_(p, 1.0);",
                         "#include <torch/torch.h>\n")
                ->compiled.outcome,
            Compiled::kForbidden);
}

TEST_F(OneLab, a_commented_include_is_not_slow) {
  const auto built = compile_norm("return 0;", "// #include <torch/torch.h>\n");
  EXPECT_FALSE(built->compiled.heavy_header);
  EXPECT_EQ(built->compiled.note, "");
}

TEST_F(OneLab, hints_are_in_plain_words) {
  struct Mistake {
    const char* code;
    const char* hint;
  };
  const Mistake mistakes[] = {
      {"double n = p[0].norm(); return n;", "item<double>()"},
      {"if (p[0] > 1.0) return 1; return p[0].size();", "numel()"},
      {"return p[0].length();", "numel()"},
      {"return p[0].shape[0];", "sizes()"},
      {"return p[0].gradient.norm();", "grad()"},
      {"for (double x : p[0]) return x; return 0;", "no range"},
      {"return p[0].grad.norm().item<double>();", "parentheses"},
      {"return std::format(\"{}\", 3).size();", "no std::format"},
      {"return sqrtt(2.0) + M_PI2 + None;", "C++ has no None"},
      {"double x = 3\nreturn x;", "; is missing"},
      {"if (true) {\nreturn 3;", "{ has no }"},
      {"Tensor t; return 0;", "torch::Tensor"},
      {"p.push_back(torch::ones(1)); return 0;", "const"},
      {"torch::GradScaler s; return 0;", "GradScaler"},
      {"return at::native::norm(p[0], 2).item<double>();", "in namespace torch"},
  };
  for (const Mistake& mistake : mistakes) {
    const auto built = compile_norm(mistake.code);
    EXPECT_EQ(built->compiled.outcome, Compiled::kCompileError) << mistake.code;
    EXPECT_THAT(built->hints(), HasSubstr(mistake.hint)) << mistake.code << built->compiled.log;
    EXPECT_EQ(built->error().file, "clipping.cpp") << mistake.code;
    EXPECT_GT(built->error().line, 1) << mistake.code;
  }
  EXPECT_THAT(compile("#include \"clipping.hpp\"\nnamespace clipping { float total_norm(const "
                      "std::vector<torch::Tensor>& p) { return 0; } }\n")
                  ->error()
                  .hint,
              HasSubstr("differs from the lab's header"));
}

TEST(LabFolder, may_be_one_that_only_we_can_enter) {
  skip_without(Isolation::kFull);
  const TempFolder folder;
  fs::permissions(folder.path(), fs::perms::owner_all);
  const Toolchain tools = toolchain(folder);
  Compiler compiler(tools, Isolation::kFull);
  const manifest::Manifest lab = clipping();
  compiler.prepare(lab);
  const auto file = folder.write("home/clipping.cpp", "#include \"clipping.hpp\"\n");
  fs::permissions(file, fs::perms::owner_read);
  fs::create_directories(folder.path() / "home/out");
  const auto compiled = compiler.compile(lab, file, folder.path() / "home/out");
  EXPECT_EQ(compiled.outcome, Compiled::kOk) << ::testing::PrintToString(compiled);
}

}  // namespace
}  // namespace gradlab::compile
