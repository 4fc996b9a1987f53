// Reads objects in several threads, each over a connection of its own, and keeps count.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <vector>

#include "cachebisect/doctor/read_window.hpp"
#include "cachebisect/doctor/url_probe.hpp"
#include "cachebisect/http/http_client.hpp"

namespace cachebisect {

/// Not thread safe, apart from its own threads.
class UrlReaders {
 public:
  /// Makes the clients. The counts of `facts`, which must outlive this, are kept up.
  UrlReaders(std::size_t threads, UrlFacts& facts, std::stop_token stop);

  struct Plan {
    std::size_t count = 0;
    std::function<HttpRead(std::size_t)> read;  ///< the i-th; thread safe
    bool again = false;                         ///< from the start, until the time is over
    std::function<void(std::size_t, const HttpResult&)> done{};  ///< called by one thread at a time
  };
  struct Made {
    ReadRate rate;
    std::size_t begun = 0;  ///< reads of the plan
  };
  /// Makes reads on so many threads until the plan or the window ends, one per thread at least. A
  /// read that is under way then is finished if it is short. A thread that fails again and again
  /// gives up, and one that is told to come back later waits. Throws Error(interrupted) on a stop.
  Made run(const Plan& plan, std::size_t threads, ReadWindow& window);

  /// Median time of a new connection; 0 if there was none.
  [[nodiscard]] double connect_seconds() const;

 private:
  struct Tally {
    std::vector<double> seconds;  ///< of reads that got all
    double last_end = 0;
  };
  void work(std::size_t thread, const Plan& plan, std::atomic<std::size_t>& next,
            ReadWindow& window, Tally& tally);
  void count(const HttpResult& result);
  /// False once the window or the run is over.
  bool pause(double seconds, const ReadWindow& window) const;

  UrlFacts& facts_;
  std::stop_token stop_;
  std::deque<HttpClient> clients_;
  std::mutex mutex_;
  std::vector<double> connect_seconds_;
};

}  // namespace cachebisect
