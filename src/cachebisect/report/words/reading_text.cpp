#include "cachebisect/report/words/reading_text.hpp"

#include <algorithm>

#include "cachebisect/base/number_format.hpp"

namespace cachebisect {
namespace {

/// Any disk gives so many bytes per second.
constexpr double kLittle = 1e6;

}  // namespace

std::string reading_text(const Report& report) {
  if (!report.reading || report.reading->ceiling_bytes_per_second.value_or(0) < kLittle) return "";
  const Reading& reading = *report.reading;
  std::string text = format_bytes(reading.bytes_per_sample) + " per sample: ";
  if (reading.live_bytes_per_second) {
    // As in the table, live is at most the ceiling.
    const double live = std::min(*reading.live_bytes_per_second, *reading.ceiling_bytes_per_second);
    text += format_bytes(live) + "/s live, ";
  }
  return text + format_bytes(*reading.ceiling_bytes_per_second) + "/s for the ceiling";
}

}  // namespace cachebisect
