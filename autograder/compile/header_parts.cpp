#include "compile/header_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "compile/files.hpp"

namespace gradlab::compile {
namespace fs = std::filesystem;
namespace {

constexpr const char* kStandardHeaders[] = {
    "algorithm", "array",  "cmath",   "cstdint",  "functional", "iostream", "limits",
    "map",       "memory", "numeric", "optional", "ranges",     "span",     "sstream",
    "stdexcept", "string", "tuple",   "utility",  "vector"};

bool has_libtorch(const manifest::Manifest& lab) {
  return std::any_of(lab.precompiled.begin(), lab.precompiled.end(), [](const std::string& name) {
    return name.starts_with("torch/") || name.starts_with("ATen/");
  });
}

std::string instantiations(const Toolchain& toolchain) {
  return toolchain.root + "/autograder/compile/instantiate";
}

// The masked names are declared in it, so that a hand-in that copies LibTorch's declarations meets
// the ones that may not be used.
std::string header_text(const Toolchain& toolchain, const manifest::Manifest& lab,
                        const std::vector<Mask>& masks) {
  std::string text;
  for (const std::string& name : lab.precompiled) text += "#include <" + name + ">\n";
  for (const char* name : kStandardHeaders) text += fmt::format("#include <{}>\n", name);
  for (const Mask& mask : masks) {
    if (mask.forbidden && !mask.file.empty()) text += "#include <" + mask.header + ">\n";
  }
  if (fs::exists(lab.directory / (lab.slug + ".hpp")))
    text += "#include \"" + lab.slug + ".hpp\"\n";
  if (has_libtorch(lab)) text += "#include \"instantiate/types.hpp\"\n";
  for (const std::string& name : lab.precompiled) {
    const std::string file = flat_name(name);
    if (!fs::exists(instantiations(toolchain) + "/" + file)) continue;
    text += "#include \"instantiate/" + file + "\"\n";
  }
  return text;
}

std::string poison_text(const manifest::Manifest& lab) {
  std::string text;
  for (const std::string& name : lab.forbidden_names) text += "#pragma GCC poison " + name + "\n";
  return text;
}

std::string mask_text(const Mask& mask) {
  return mask.file.empty()
             ? "#error " + mask.header + " is not for this lab: this lab asks you to write it\n"
             : read_file(mask.file);
}

std::string all_headers_below(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ignored)) {
    const std::string extension = entry.path().extension();
    if (extension == ".hpp" || extension == ".h") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  std::string text;
  for (const std::string& path : paths) text += path + "\n" + read_file(path);
  return text;
}

}  // namespace

void write_parts(const Place& place) {
  const std::vector<Mask> all = masks(place);
  make_folder(place.header);
  write_file(place.header + "/all.hpp", header_text(place.toolchain, place.lab, all));
  write_file(place.header + "/poison.hpp", poison_text(place.lab));
  make_folder(place.header + "/instantiate");
  for (const auto& file : fs::directory_iterator(instantiations(place.toolchain))) {
    write_file(place.header + "/instantiate/" + file.path().filename().string(),
               read_file(file.path()));
  }
  make_folder(place.header + "/masks");
  for (const Mask& mask : all) {
    const fs::path path = fs::path(place.header) / "masks" / mask.header;
    make_folder(path.parent_path().string());
    write_file(path.string(), mask_text(mask));
  }
}

std::string text_of_parts(const Place& place) {
  const std::vector<Mask> masked = masks(place);
  std::string all = header_text(place.toolchain, place.lab, masked) + poison_text(place.lab);
  for (const Mask& mask : masked) all += mask_text(mask);
  all += all_headers_below(instantiations(place.toolchain));
  for (const auto& folder : header_folders(place.toolchain, place.lab)) {
    if (folder.inside != kLibtorch) all += all_headers_below(folder.host);
  }
  return all;
}

}  // namespace gradlab::compile
