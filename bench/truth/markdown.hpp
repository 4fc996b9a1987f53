// Tables of figures as Markdown.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cachebisect/selftest/summary.hpp"

namespace cachebisect::truth {

/// printf for up to three numbers.
std::string format(const char* pattern, double a, double b = 0, double c = 0);
/// "99.00% (94.55-99.97), 99/100", with the 95% interval; "-" of nothing.
std::string cell(const selftest::Rate& rate);
/// "1.5 s"; "-" if empty.
std::string cell(const std::optional<double>& seconds);

class Markdown {
 public:
  void heading(const std::string& words) { text_ += "\n### " + words + "\n\n"; }
  void line(const std::string& words) { text_ += words + "\n"; }
  void row(const std::vector<std::string>& cells);
  /// The first row of a table.
  void header(const std::vector<std::string>& cells);
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace cachebisect::truth
