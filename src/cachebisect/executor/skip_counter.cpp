#include "cachebisect/executor/skip_counter.hpp"

#include <algorithm>
#include <cmath>

#include "cachebisect/base/error.hpp"

namespace cachebisect {

void SkipCounter::add_skipped(const std::string& what) {
  constexpr std::size_t kShown = 8;
  const std::scoped_lock lock(mutex_);
  ++all_skipped_;
  ++run_skipped_;
  if (first_.size() < kShown) first_.push_back(what);
  const std::uint64_t of = std::max(loaded_.load(std::memory_order_relaxed), kMinSamples);
  const double tolerated = kMaxShare * static_cast<double>(of);
  if (static_cast<double>(all_skipped_) <= tolerated + kErrors * std::sqrt(tolerated)) return;
  throw Error(ErrorKind::data, "more than 5% of the samples are damaged (" +
                                   std::to_string(all_skipped_) + " of " + std::to_string(of) +
                                   "), the last being " + what +
                                   "; repair the data set or point the source at another");
}

void SkipCounter::begin_run() {
  const std::scoped_lock lock(mutex_);
  run_skipped_ = 0;
  first_.clear();
}

void SkipCounter::report(std::uint64_t& skipped, std::vector<std::string>& first) const {
  const std::scoped_lock lock(mutex_);
  skipped = run_skipped_;
  first = first_;
}

}  // namespace cachebisect
