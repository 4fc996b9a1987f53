#include "cachebisect/doctor/url_readers.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <thread>
#include <utility>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/statistics.hpp"

namespace cachebisect {
namespace {

/// Reads that are under way at the end of a window are finished up to this size, so that their
/// connections are kept.
constexpr std::uint64_t kShortRead = std::uint64_t{1} << 20U;
/// Nothing is waited for longer.
constexpr double kMostOverrun = 5;
constexpr int kMostFailuresInRow = 3;
constexpr double kLeastPause = 0.1;
constexpr double kPauseStep = 0.02;

}  // namespace

UrlReaders::UrlReaders(std::size_t threads, UrlFacts& facts, std::stop_token stop)
    : facts_(facts), stop_(std::move(stop)) {
  while (clients_.size() < threads) clients_.emplace_back();
}

UrlReaders::Made UrlReaders::run(const Plan& plan, std::size_t threads, ReadWindow& window) {
  std::atomic<std::size_t> next{0};
  std::vector<Tally> tallies(std::min(threads, clients_.size()));
  std::barrier together(static_cast<std::ptrdiff_t>(tallies.size()),
                        [&]() noexcept { window.begin(monotonic_seconds()); });
  {
    std::vector<std::jthread> helpers;
    for (std::size_t t = 0; t < tallies.size(); ++t) {
      helpers.emplace_back([&, t] {
        together.arrive_and_wait();
        work(t, plan, next, window, tallies[t]);
      });
    }
  }
  if (stop_.stop_requested()) throw Error(ErrorKind::interrupted, "interrupted");
  std::vector<double> all;
  double last_end = 0;
  for (const Tally& tally : tallies) {
    all.insert(all.end(), tally.seconds.begin(), tally.seconds.end());
    last_end = std::max(last_end, tally.last_end);
  }
  Made made;
  made.rate = {.bytes_per_second = window.rate(last_end),
               .median_seconds = all.empty() ? 0 : median(all),
               .reads = all.size()};
  made.begun = std::min(next.load(), plan.count);
  return made;
}

void UrlReaders::work(std::size_t thread, const Plan& plan, std::atomic<std::size_t>& next,
                      ReadWindow& window, Tally& tally) {
  int failures = 0;
  double before = monotonic_seconds();
  // One read at least, however late the thread is.
  for (bool first = true; (first || !window.is_over(before)) && !stop_.stop_requested();
       first = false) {
    const std::size_t i = next.fetch_add(1);
    if (!plan.again && i >= plan.count) return;
    const HttpRead wanted = plan.read(i % plan.count);
    const bool is_short = wanted.bytes > 0 && wanted.bytes <= kShortRead;
    const HttpResult result = clients_[thread].read(wanted, [&](std::uint64_t bytes) {
      const double now = monotonic_seconds();
      if (bytes > 0) window.add(bytes, now);
      const double last = is_short ? window.end() + kMostOverrun : window.end();
      return now > last || stop_.stop_requested();
    });
    const double after = monotonic_seconds();
    tally.last_end = after;
    if (result.outcome == HttpResult::Outcome::whole) tally.seconds.push_back(after - before);
    {
      const std::scoped_lock lock(mutex_);
      count(result);
      if (plan.done) plan.done(i % plan.count, result);
    }
    failures = result.outcome == HttpResult::Outcome::failed ? failures + 1 : 0;
    if (failures == kMostFailuresInRow) return;
    if (result.outcome == HttpResult::Outcome::throttled &&
        !pause(std::max(result.retry_seconds, kLeastPause), window)) {
      return;
    }
    before = monotonic_seconds();
  }
}

void UrlReaders::count(const HttpResult& result) {
  using Outcome = HttpResult::Outcome;
  ++facts_.requests;
  facts_.bytes += result.bytes;
  facts_.connections += static_cast<std::uint64_t>(result.connections);
  if (result.connections > 0 && result.connect_seconds > 0) {
    connect_seconds_.push_back(result.connect_seconds);
  }
  if (result.outcome == Outcome::throttled) ++facts_.throttled;
  if (result.outcome != Outcome::failed) return;
  ++facts_.failed;
  if (facts_.first_failure.empty()) facts_.first_failure = result.problem;
}

bool UrlReaders::pause(double seconds, const ReadWindow& window) const {
  const double until = monotonic_seconds() + seconds;
  while (monotonic_seconds() < until) {
    if (stop_.stop_requested() || window.is_over(monotonic_seconds())) return false;
    sleep_until(std::min(until, monotonic_seconds() + kPauseStep));
  }
  return true;
}

double UrlReaders::connect_seconds() const {
  return connect_seconds_.empty() ? 0 : median(connect_seconds_);
}

}  // namespace cachebisect
