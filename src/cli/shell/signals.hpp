// Ctrl-C, termination and hang-up: the first signal requests a partial report, the second exits at
// once.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

#include "cachebisect/base/error.hpp"

namespace cachebisect::cli {

/// The exit code after signal N is this plus N, as in a shell.
inline constexpr int kSignalBase = 128;

class SignalWatch;

/// What happens if the process must end without unwinding. Called from threads of the watch.
struct StuckActions {
  /// The run has not returned: writes what is known. May block; then the process ends without it.
  std::function<void(SignalWatch&)> report{};
  std::function<void()> remove_temporaries{};
};

/// Catches SIGINT, SIGTERM and, unless it is ignored (nohup), SIGHUP during its lifetime. Must be
/// made before any other thread, so that all of them inherit the blocked signals.
class SignalWatch {
 public:
  /// If the run does not return within two seconds of the first signal (a stage is stuck in the
  /// kernel), `actions.report` is called. That, and the run's own output, may take twenty seconds
  /// for files (a busy disk) and then three for what another process reads; then the process exits.
  explicit SignalWatch(StuckActions actions = {});
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }
  /// The run has returned and writes files. Does not return if `actions.report` was called.
  void begin_output();
  /// The run, or `actions.report`, writes to standard output or a pipe, which may block.
  void begin_streams();
  /// 128 + the signal (130 for SIGINT, 143 for SIGTERM, 129 for SIGHUP), else 0.
  [[nodiscard]] int exit_code() const noexcept;

 private:
  enum class Phase { running, reporting, output };

  void extend_deadline(double seconds);
  void watch(const std::stop_token& done);
  void pass_deadline();
  [[noreturn]] void leave() const;

  StuckActions actions_;
  std::stop_source source_;
  std::atomic<int> signal_{0};
  std::mutex mutex_;
  // Guarded by mutex_:
  Phase phase_ = Phase::running;
  double patience_ = 0;    // of what the process does now, in seconds from its start or the signal
  double deadline_ = 0;    // once there is a signal
  std::jthread reporter_;  // used by thread_ alone
  std::jthread thread_;    // last: it uses the others
};

/// Runs `work`, which returns an exit code; the exit code of the signal if one came. `interrupted`
/// is called if a stop ended the work without a result.
template <class Work, class Interrupted>
int run_until_signal(const SignalWatch& signals, const Work& work, const Interrupted& interrupted) {
  int code = 0;
  try {
    code = work();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::interrupted || signals.exit_code() == 0) throw;
    interrupted();
  }
  return signals.exit_code() != 0 ? signals.exit_code() : code;
}

}  // namespace cachebisect::cli
