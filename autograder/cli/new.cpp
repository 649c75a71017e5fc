// ./gradlab new SLUG: the whole set of files of a lab, from templates/new, with one small task to
// be replaced. CMake and the command find a lab by its files, so no existing one is edited.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <kainjow/mustache.hpp>

#include "cli/app.hpp"
#include "cli/files.hpp"
#include "cli/messages.hpp"
#include "cli/process.hpp"
#include "compile/compile.hpp"
#include "manifest/names.hpp"
#include "pipeline/work_folder.hpp"

namespace gradlab::cli {
namespace fs = std::filesystem;
namespace {

struct NewFile {
  fs::path path;  // from the root
  std::string text;
};

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
}

// weight_decay: WeightDecay for the suite of checks, "Weight decay" as a title to begin with.
std::string camel(const std::string& slug) {
  std::string name;
  bool upper = true;
  for (const char c : slug) {
    if (c != '_') name += upper ? static_cast<char>(toupper(c)) : c;
    upper = c == '_';
  }
  return name;
}

std::string title(std::string slug) {
  replace_all(slug, "_", " ");
  slug[0] = static_cast<char>(toupper(slug[0]));
  return slug;
}

// What the files of a lab include, and the names beside it in one program. A compiler then knows
// better than any list what a namespace may not be called: keywords, functions, macros, LibTorch.
constexpr char kProbe[] =
    "#include <ATen/core/Tensor.h>\n"
    "#include <csignal>\n"
    "#include <unistd.h>\n"
    "int main() { return 0; }\n"
    "namespace torch {} namespace testing {} namespace fmt {} namespace gradlab {}\n"
    "namespace new_lab {}\n"
    "namespace SLUG = new_lab;\n";

// The first thing that a compiler says against a namespace of that name; empty when it is free.
std::string taken_in_cpp(const Workspace& workspace, const std::string& slug) {
  const auto toolchain = compile::read_toolchain(workspace.root().string());
  const pipeline::WorkFolder folder;
  const fs::path probe = folder.path() / "probe.cpp";
  std::string text = kProbe;
  replace_all(text, "SLUG", slug);
  write_new_file(probe, text);
  const auto compiled =
      run_captured({toolchain.compiler, "-std=c++20", "-fsyntax-only", "-w", "-isystem",
                    toolchain.torch + "/include", "-isystem",
                    toolchain.torch + "/include/torch/csrc/api/include", probe.string()},
                   folder.path().string());
  if (compiled.status == 0) return "";
  const size_t error = compiled.output.find("error: ");
  if (error == std::string::npos) return compiled.output;
  return compiled.output.substr(error + 7, compiled.output.find('\n', error) - error - 7);
}

// A long slug moves line breaks, and the order of includes depends on it.
void format(const Workspace& workspace, const std::vector<NewFile>& files) {
  std::vector<std::string> line = {"clang-format-19", "-i"};
  for (const auto& file : files) {
    if (file.path.extension() == ".cpp" || file.path.extension() == ".hpp") {
      line.push_back((workspace.root() / file.path).string());
    }
  }
  try {
    run_captured(line, workspace.root().string());
  } catch (const GraderFault&) {
    note("without clang-format-19 some line breaks are not in the house style");
  }
}

int next_order(const Workspace& workspace) {
  int last = 0;
  for (const auto& lab : workspace.labs()) last = std::max(last, lab.order);
  return last / 10 * 10 + 10;
}

std::vector<NewFile> files_of(const Workspace& workspace, const std::string& slug) {
  const fs::path templates = workspace.root() / "autograder/cli/templates/new";
  if (!fs::is_directory(templates)) {
    throw messages::missing_part(workspace.shown(templates), "new");
  }
  kainjow::mustache::data values;
  values.set("slug", slug);
  values.set("suite", camel(slug));
  values.set("title", title(slug));
  values.set("order", std::to_string(next_order(workspace)));

  std::vector<NewFile> files;
  for (const auto& entry : fs::recursive_directory_iterator(templates)) {
    if (!entry.is_regular_file()) continue;
    std::string path = entry.path().lexically_relative(templates).string();
    replace_all(path, "SLUG", slug);
    replace_all(path, ".mustache", "");
    kainjow::mustache::mustache text(read_whole(entry.path()));
    text.set_custom_escape([](const std::string& plain) { return plain; });  // no HTML
    files.push_back({path, text.render(values)});
  }
  std::sort(files.begin(), files.end(),
            [](const NewFile& a, const NewFile& b) { return a.path < b.path; });
  return files;
}

// A lab's places: a file or a folder there is a lab's part, even where no template writes to.
void refuse_taken(const Workspace& workspace, const std::string& slug,
                  const std::vector<NewFile>& files) {
  std::vector<fs::path> places;
  for (const char* folder :
       {"labs", "reference", "autograder/checks", "autograder/experiments", "tests/course/right"}) {
    places.push_back(fs::path(folder) / slug);
    places.push_back(fs::path(folder) / (slug + ".cpp"));
  }
  for (const auto& file : files) places.push_back(file.path);
  for (const auto& place : places) {
    if (fs::symlink_status(workspace.root() / place).type() != fs::file_type::not_found) {
      throw messages::slug_taken(slug, place.string());
    }
  }
}

void make_lab(const Session& session, const std::string& slug) {
  const auto& workspace = session.workspace;
  if (!manifest::is_snake(slug) || slug.find("__") != std::string::npos || slug.ends_with('_')) {
    throw messages::bad_slug(slug);
  }
  const auto files = files_of(workspace, slug);
  refuse_taken(workspace, slug, files);
  if (const auto why = taken_in_cpp(workspace, slug); !why.empty()) {
    throw messages::slug_of_cpp(slug, why);
  }
  for (const auto& file : files) {
    if (!write_new_file(workspace.root() / file.path, file.text)) {
      throw messages::slug_taken(slug, file.path.string());
    }
    print(fmt::format("  {}\n", file.path.string()));
  }
  format(workspace, files);
  print(
      fmt::format("A lab with one small task, to be replaced by yours. It is sound already:\n"
                  "  ./gradlab doctor {0}\n"
                  "How to go on: handouts/instructor/adding-a-lab.md\n",
                  slug));
}

}  // namespace

void add_new(CLI::App& app, Session& session) {
  auto& verb = add_verb(
      app, {"new", kForAuthors, "Write the files of a new lab", "./gradlab new weight_decay"});
  auto slug = std::make_shared<std::string>();
  verb.add_option("SLUG", *slug, "its name in files, commands and C++: lower case, digits and _")
      ->required();
  verb.callback([&session, slug] { make_lab(session, *slug); });
}

}  // namespace gradlab::cli
