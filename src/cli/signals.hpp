// Ctrl-C and termination: the first signal requests a partial report, the second exits at once.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace cachebisect::cli {

/// Catches SIGINT and SIGTERM during its lifetime. Must be made before any other thread, so that
/// all of them inherit the blocked signals.
class SignalWatch {
 public:
  /// If the process does not end within two seconds of the first signal (a stage is stuck in the
  /// kernel), `on_stuck` is called and the process exits.
  explicit SignalWatch(std::function<void()> on_stuck);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }
  /// The run has returned: from now on only a second signal ends the process. Does not return while
  /// `on_stuck` runs.
  void disarm();
  /// 130 or 143 after a signal, else 0.
  [[nodiscard]] int exit_code() const noexcept;

 private:
  void watch(const std::stop_token& done);
  void exit_if_stuck(double caught_at);

  std::function<void()> on_stuck_;
  std::stop_source source_;
  std::atomic<int> signal_{0};
  std::mutex exiting_;
  bool disarmed_ = false;  // guarded by exiting_
  std::jthread thread_;    // last: it uses the others
};

}  // namespace cachebisect::cli
