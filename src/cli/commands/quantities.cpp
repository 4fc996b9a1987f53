#include "commands/quantities.hpp"

#include <array>
#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/number_parse.hpp"

namespace cachebisect::cli {
namespace {

LeadingNumber<double> number_and_unit(const std::string& option, const std::string& text,
                                      const std::string& expected) {
  const auto number = split_number<double>(text);
  if (!number) throw Error(ErrorKind::usage, option + " " + text + ": " + expected);
  return *number;
}

}  // namespace

double parse_share(const std::string& option, const std::string& text) {
  const std::string expected = "a share between 0 and 1, or a percentage such as 5%";
  const auto [value, unit] = number_and_unit(option, text, expected);
  const double share = unit == "%" ? value / 100 : value;
  if ((!unit.empty() && unit != "%") || share <= 0 || share >= 1) {
    throw Error(ErrorKind::usage, option + " " + text + ": " + expected);
  }
  return share;
}

double parse_bytes(const std::string& option, const std::string& text, double whole) {
  const std::string expected = "bytes such as 512MB, 2GiB or 1000000, or a percentage such as 25%";
  const auto [value, unit] = number_and_unit(option, text, expected);
  constexpr std::array<std::pair<const char*, double>, 9> kUnits{{{"", 1},
                                                                  {"B", 1},
                                                                  {"kB", 1e3},
                                                                  {"MB", 1e6},
                                                                  {"GB", 1e9},
                                                                  {"TB", 1e12},
                                                                  {"KiB", 0x1p10},
                                                                  {"MiB", 0x1p20},
                                                                  {"GiB", 0x1p30}}};
  if (value > 0 && unit == "%" && value <= 100) return whole * value / 100;
  for (const auto& [name, factor] : kUnits) {
    if (value > 0 && unit == name) return value * factor;
  }
  throw Error(ErrorKind::usage, option + " " + text + ": " + expected);
}

}  // namespace cachebisect::cli
