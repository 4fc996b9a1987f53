#include "cachebisect/base/proc_files.hpp"

#include <fstream>

#include "cachebisect/base/number_parse.hpp"

namespace cachebisect {
namespace {

std::string trim(const std::string& text) {
  const auto from = text.find_first_not_of(" \t\"");
  if (from == std::string::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t\"") - from + 1);
}

}  // namespace

std::optional<std::string> first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line)) return std::nullopt;
  return line;
}

std::optional<double> leading_number(std::string_view text) {
  const auto number = split_number<double>(text);
  return number ? std::optional(number->value) : std::nullopt;
}

std::optional<double> number_in(const std::string& path) {
  const auto line = first_line(path);
  return line ? leading_number(*line) : std::nullopt;
}

std::optional<std::string> value_of(const std::string& path, std::string_view key, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const auto at = line.find(separator);
    if (at != std::string::npos) return trim(line.substr(at + 1));
  }
  return std::nullopt;
}

std::optional<double> keyed_number(const std::string& path, std::string_view key) {
  const auto value = value_of(path, std::string(key) + " ", ' ');
  return value ? leading_number(*value) : std::nullopt;
}

}  // namespace cachebisect
