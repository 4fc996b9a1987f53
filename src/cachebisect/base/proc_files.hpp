// Reads the small text files of /proc, /sys and /etc. What is missing or malformed gives an empty
// result, never an error.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cachebisect {

std::optional<std::string> first_line(const std::string& path);
/// The finite number that `text` begins with; empty for "max" and anything else.
std::optional<double> leading_number(std::string_view text);
/// The finite number that the file begins with.
std::optional<double> number_in(const std::string& path);
/// What follows `separator` in the first line that begins with `key`, without blanks and quotes.
std::optional<std::string> value_of(const std::string& path, std::string_view key, char separator);
/// The number after "key " in a file of such lines (cpu.stat, memory.stat).
std::optional<double> keyed_number(const std::string& path, std::string_view key);

}  // namespace cachebisect
