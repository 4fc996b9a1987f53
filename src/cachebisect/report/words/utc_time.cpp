#include "cachebisect/report/words/utc_time.hpp"

#include <chrono>
#include <cstddef>

#include "cachebisect/base/number_parse.hpp"

namespace cachebisect {
namespace {

constexpr std::string_view kPattern = "0000-00-00T00:00:00Z";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool has_form(std::string_view text) {
  if (text.size() != kPattern.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (kPattern[i] == '0' ? !is_digit(text[i]) : text[i] != kPattern[i]) return false;
  }
  return true;
}

}  // namespace

std::optional<double> unix_seconds(std::string_view utc) noexcept {
  if (!has_form(utc)) return std::nullopt;
  const auto part = [utc](std::size_t at, std::size_t digits) {
    return *parse_number<unsigned>(utc.substr(at, digits));
  };
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(part(0, 4))),
                                         std::chrono::month(part(5, 2)),
                                         std::chrono::day(part(8, 2))};
  const unsigned hour = part(11, 2);
  const unsigned minute = part(14, 2);
  const unsigned second = part(17, 2);
  if (!date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  const auto midnight = std::chrono::sys_days(date).time_since_epoch();
  const auto time = midnight + std::chrono::hours(hour) + std::chrono::minutes(minute) +
                    std::chrono::seconds(second);
  return static_cast<double>(std::chrono::duration_cast<std::chrono::seconds>(time).count());
}

}  // namespace cachebisect
