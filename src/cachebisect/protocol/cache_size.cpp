#include "cachebisect/protocol/cache_size.hpp"

#include <algorithm>
#include <cmath>

#include "cachebisect/base/error.hpp"

namespace cachebisect {
namespace {

constexpr double kSmallestSamples = 64;
constexpr std::uint64_t kUnlimitedSamples = 1ULL << 40U;

/// A number of batches and the limit that reduced it last.
class BatchCount {
 public:
  BatchCount(double batch, double samples) : batch_(batch), batches_(std::ceil(samples / batch)) {}

  void cap(double samples, const char* reason) {
    const double max = std::floor(samples / batch_);
    if (max < batches_) {
      batches_ = max;
      limited_by_ = reason;
    }
  }
  void cap_by_budget(double budget, double bytes_per_sample, const char* what,
                     const std::string& remedy) {
    if (bytes_per_sample <= 0) return;
    if (budget < bytes_per_sample * batch_) {
      const auto whole = [](double bytes) { return std::to_string(std::llround(bytes)); };
      throw Error(ErrorKind::usage, std::string("the ") + what + " of " + whole(budget) +
                                        " bytes does not hold one batch of " + whole(batch_) +
                                        " samples at every boundary, which takes " +
                                        whole(std::ceil(bytes_per_sample * batch_)) + " bytes; " +
                                        remedy);
    }
    cap(budget / bytes_per_sample, what);
  }
  [[nodiscard]] CacheSize result() const {
    return {static_cast<std::uint64_t>(std::max(batches_, 1.0) * batch_), limited_by_};
  }

 private:
  double batch_;
  double batches_;
  std::string limited_by_;
};

}  // namespace

double host_limit(const CacheNeeds& needs) noexcept {
  return needs.host_memory_bytes > 0 ? std::min(needs.host_budget_bytes, needs.host_memory_bytes)
                                     : needs.host_budget_bytes;
}

CacheSize choose_cache_size(const CacheNeeds& needs) {
  const auto batch = static_cast<double>(std::max<std::int64_t>(needs.batch_size, 1));
  BatchCount batches(batch, std::max({kSmallestSamples, needs.wanted_samples, 2 * batch}));
  // A data set smaller than one batch is repeated: the cache holds at least one batch.
  batches.cap(std::max(static_cast<double>(needs.data_set_samples), batch), "data set");
  const bool by_memory = host_limit(needs) < needs.host_budget_bytes;
  batches.cap_by_budget(host_limit(needs), needs.host_bytes_per_sample,
                        by_memory ? "available host memory" : "host budget",
                        by_memory ? "lower batch_size" : "raise --cache-host or lower batch_size");
  if (needs.device_budget_bytes) {
    batches.cap_by_budget(*needs.device_budget_bytes, needs.device_bytes_per_sample,
                          "device budget", "raise --cache-device or lower batch_size");
  }
  return batches.result();
}

std::uint64_t most_samples(CacheNeeds needs) {
  needs.data_set_samples = kUnlimitedSamples;
  needs.wanted_samples = static_cast<double>(kUnlimitedSamples);
  return choose_cache_size(needs).samples;
}

}  // namespace cachebisect
