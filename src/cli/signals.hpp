// Ctrl-C and termination: the first asks for a partial report, the second ends at once.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace cachebisect::cli {

/// Catches SIGINT and SIGTERM while it lives. Make it before any other thread, so that all of them
/// inherit the blocked signals.
class SignalWatch {
 public:
  /// `last_words` is called, once, when the process does not end within two seconds of the first
  /// signal (a stage is stuck in the kernel); then the process exits.
  explicit SignalWatch(std::function<void()> last_words);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }
  /// The run has come back: from here on only a second signal ends the process. Does not return
  /// when the last words are being said.
  void stand_down();
  /// 130 or 143 after a signal, else 0.
  [[nodiscard]] int exit_code() const noexcept;

 private:
  void watch(const std::stop_token& done);
  void leave_when_stuck(double caught_at);

  std::function<void()> last_words_;
  std::stop_source source_;
  std::atomic<int> signal_{0};
  std::mutex leaving_;
  bool came_back_ = false;  // guarded by leaving_
  std::jthread thread_;     // last: it uses the others
};

}  // namespace cachebisect::cli
