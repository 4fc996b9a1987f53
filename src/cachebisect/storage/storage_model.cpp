#include "cachebisect/storage/storage_model.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/quantiles.hpp"
#include "cachebisect/base/random.hpp"

namespace cachebisect {
namespace {

/// Longer than any piece of an answer waits for its turn to ask.
constexpr double kRememberedSeconds = 5;
constexpr double kMostSeconds = 3600;
/// Less than a request is not one, but sums of shares are not exact.
constexpr double kWholeToken = 1 - 1e-9;

void require(bool holds, const char* name, const char* right) {
  if (!holds) throw Error(ErrorKind::usage, std::string(name) + ": " + right);
}

bool is_seconds(double value) { return value >= 0 && value <= kMostSeconds; }
bool is_rate(double value) { return value >= 0 && std::isfinite(value); }

}  // namespace

void check(const StorageSettings& settings) {
  require(is_seconds(settings.median_seconds), "latency", "0 s to one hour");
  require(is_seconds(settings.p99_seconds) && settings.p99_seconds >= settings.median_seconds,
          "99th percentile of the latency", "the median or more, one hour at most");
  require(settings.median_seconds > 0 || settings.p99_seconds == 0,
          "99th percentile of the latency", "0 if the median is 0");
  require(is_rate(settings.bytes_per_second), "bandwidth", "0 (no limit) or more");
  require(is_rate(settings.requests_per_second), "requests per second", "0 (no limit) or more");
  require(settings.burst >= 1 && std::isfinite(settings.burst), "burst", "1 or more");
}

StorageModel::StorageModel(const StorageSettings& settings)
    : settings_(settings), tokens_(settings.burst) {
  check(settings);
  if (settings.median_seconds > 0) {
    constexpr double kTail = 0.99;
    mu_ = std::log(settings.median_seconds);
    sigma_ = std::log(settings.p99_seconds / settings.median_seconds) / normal_quantile(kTail);
  }
}

std::optional<StorageAnswer> StorageModel::admit(double now, std::uint64_t bytes) {
  if (settings_.requests_per_second > 0) {
    refill(now);
    if (tokens_ < kWholeToken) return std::nullopt;
    tokens_ -= 1;
  }
  const double first = now + draw_latency();
  forget_before(now - kRememberedSeconds);
  return StorageAnswer{.first_byte = first, .last_byte = transfer(first, bytes)};
}

double StorageModel::transfer(double ready, std::uint64_t bytes) {
  if (settings_.bytes_per_second <= 0 || bytes == 0) return ready;
  return take_gaps(ready, static_cast<double>(bytes) / settings_.bytes_per_second);
}

double StorageModel::seconds_until_admitted(double now) const {
  if (settings_.requests_per_second <= 0) return 0;
  const double since = started_ ? std::max(now - filled_at_, 0.0) : 0;
  const double missing = 1 - tokens_ - since * settings_.requests_per_second;
  return std::max(missing, 0.0) / settings_.requests_per_second;
}

void StorageModel::refill(double now) {
  if (started_ && now > filled_at_) {
    tokens_ =
        std::min(settings_.burst, tokens_ + (now - filled_at_) * settings_.requests_per_second);
  }
  filled_at_ = started_ ? std::max(filled_at_, now) : now;
  started_ = true;
}

double StorageModel::draw_latency() {
  const std::uint64_t index = admitted_++;
  if (settings_.median_seconds <= 0) return 0;
  if (sigma_ <= 0) return settings_.median_seconds;
  RandomStream random(
      {.seed = settings_.seed, .index = index, .stage = hash_name("storage model")});
  return std::exp(mu_ + sigma_ * random.normal());
}

void StorageModel::forget_before(double time) {
  auto interval = busy_.begin();
  while (interval != busy_.end() && interval->second < time) interval = busy_.erase(interval);
}

/// Takes what is free of the link from `ready` on, and returns when that is enough.
double StorageModel::take_gaps(double ready, double seconds) {
  auto next = busy_.upper_bound(ready);
  double begin = ready;
  if (next != busy_.begin()) begin = std::max(begin, std::prev(next)->second);
  const double first = begin;
  double end = begin + seconds;
  while (next != busy_.end() && next->first < end) {
    const double gap_end = next->first;
    end = next->second + (end - gap_end);
    begin = next->second;
    next = busy_.erase(next);
  }
  // All between is taken now. Joined with what ends where it begins.
  auto before = busy_.lower_bound(first);
  if (before != busy_.begin() && std::prev(before)->second >= first) {
    std::prev(before)->second = std::max(std::prev(before)->second, end);
  } else {
    busy_[first] = end;
  }
  return end;
}

}  // namespace cachebisect
