// The wordings of the intake, in one place: what happened, then what to do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "intake/intake.hpp"

namespace gradlab::intake::errors {

IntakeError no_folder(std::string_view path);
IntakeError not_a_folder(std::string_view path, std::string_view what);
IntakeError unreadable_folder(std::string_view path, std::string_view why);
IntakeError empty_folder(std::string_view path);
IntakeError no_hand_in(std::string_view path, std::string_view hand_in);
IntakeError no_file(std::string_view path, std::string_view why);
IntakeError work(std::string_view path, std::string_view why);

Refusal missing(std::string_view file, const std::vector<std::string>& found);
Refusal several(std::string_view file, const std::vector<std::string>& candidates);
Refusal empty(std::string_view file);
Refusal not_regular(std::string_view file, std::string_view what);
Refusal too_big(std::string_view file, std::int64_t most_kib);
Refusal binary(std::string_view file, std::size_t at);
Refusal utf16(std::string_view file);
Refusal not_utf8(std::string_view file, std::size_t at, std::size_t line);
Refusal unreadable(std::string_view file, std::string_view why);

std::string took_as(std::string_view found, std::string_view wanted);
std::string left_alone(const std::vector<std::string>& names);
std::string nobodys(std::string_view name, std::string_view remedy);
std::string twice(std::string_view name);

}  // namespace gradlab::intake::errors
