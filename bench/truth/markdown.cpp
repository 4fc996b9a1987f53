#include "bench/truth/markdown.hpp"

#include <array>
#include <cstdio>

namespace cachebisect::truth {

std::string format(const char* pattern, double a, double b, double c) {
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), pattern, a, b, c);
  return text.data();
}

std::string cell(const selftest::Rate& rate) {
  if (rate.whole == 0) return "-";
  const Interval interval = rate.interval();
  return format("%.2f%% (%.2f-%.2f)", 100 * rate.share(), 100 * interval.low, 100 * interval.high) +
         ", " + std::to_string(rate.part) + "/" + std::to_string(rate.whole);
}

std::string cell(const std::optional<double>& seconds) {
  return seconds ? format("%.1f s", *seconds) : "-";
}

void Markdown::row(const std::vector<std::string>& cells) {
  for (const auto& words : cells) text_ += "| " + words + " ";
  text_ += "|\n";
}

void Markdown::header(const std::vector<std::string>& cells) {
  row(cells);
  for (std::size_t i = 0; i < cells.size(); ++i) text_ += "|---";
  text_ += "|\n";
}

}  // namespace cachebisect::truth
