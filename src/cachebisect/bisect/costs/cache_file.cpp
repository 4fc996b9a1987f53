#include "cachebisect/bisect/costs/cache_file.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/protocol/cache_file.hpp"

namespace cachebisect {
namespace {

using cache_file::kLogBytes;
using cache_file::kPageBytes;

/// What a sample takes in the file besides its bytes: names, shapes and the row.
constexpr double kRowBytes = 128;
/// Pages that rows are put into in any order are not full, and there is an index: measured, 1.15.
constexpr double kFill = 1.25;
constexpr double kLeastBytes = 2e7;
constexpr double kStepBytes = 1e7;
/// Share of what is free on its disk.
constexpr double kMostOfDisk = 0.9;
/// What a sample of a job in code takes besides: it is pickled, with the calls that follow.
constexpr double kPickledBytes = 1024;
constexpr double kPickledShare = 1.05;

double bytes_in_file(double bytes_per_sample) {
  const double row = bytes_per_sample + kRowBytes;
  if (row > kPageBytes) return row + kPageBytes;
  return kFill * kPageBytes / std::floor(kPageBytes / row);
}

}  // namespace

double cache_file_limit(double bytes_per_sample, double samples) {
  const double all = samples * bytes_in_file(bytes_per_sample);
  // For the log, twice over, and for one large sample.
  const double free = 4.0 * kLogBytes + std::min<double>(all / (cache_file::kLargestPart - 1),
                                                         cache_file::kLargestBytes);
  return std::ceil(std::max(all + free, kLeastBytes) / kStepBytes) * kStepBytes;
}

double cache_file_limit(const ChainDescription& chain, std::size_t after) {
  const double bytes = chain.stages.at(after - 1).output_bytes.value_or(0);
  if (!(bytes > 0) || chain.samples == 0) return 0;
  return cache_file_limit(kPickledShare * bytes + kPickledBytes,
                          static_cast<double>(chain.samples));
}

double file_limit_within(double limit_bytes, double free_bytes) noexcept {
  const double most = std::floor(kMostOfDisk * free_bytes / kStepBytes) * kStepBytes;
  return std::min(limit_bytes, std::max(most, kLeastBytes));
}

std::string with_file_limit(std::string line, double bytes) {
  const std::size_t at = line.find(kFileLimit);
  if (at == std::string::npos || !(bytes > 0)) return line;
  return line.replace(at, std::string_view(kFileLimit).size(), format_exact(bytes / 1e9) + "GB");
}

}  // namespace cachebisect
