// The wordings of the manifest, in one place: what is wrong, then what to do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "manifest/manifest.hpp"

namespace gradlab::manifest::errors {

// `at` is "labs/x/lab.toml:12".
ManifestError no_file(std::string_view at, std::string_view why);
// Of a file of drills.
ManifestError no_drills(std::string_view at, std::string_view why);
ManifestError bad_slug(std::string_view at, std::string_view slug);
ManifestError syntax(std::string_view at, std::string_view what);
ManifestError unknown_key(std::string_view at, std::string_view key,
                          const std::vector<std::string>& known);
bool is_near(std::string_view a, std::string_view b);  // likely the same word, misspelt
ManifestError missing_key(std::string_view at, std::string_view key, std::string_view where,
                          std::string_view example);
// "AT: key 'KEY': must be MUST, was WAS; REMEDY"
ManifestError bad_value(std::string_view at, std::string_view key, std::string_view must,
                        std::string_view was, std::string_view remedy);

}  // namespace gradlab::manifest::errors
