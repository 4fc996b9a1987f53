#include "signals.hpp"

#include <csignal>
#include <ctime>
#include <utility>

#include <unistd.h>

#include "cachebisect/base/clock.hpp"

namespace cachebisect::cli {
namespace {

constexpr double kPatienceSeconds = 2;
constexpr long kPollNanoseconds = 50'000'000;
constexpr int kSignalBase = 128;

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

SignalWatch::SignalWatch(std::function<void()> on_stuck) : on_stuck_(std::move(on_stuck)) {
  const sigset_t set = watched_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::jthread([this](const std::stop_token& done) { watch(done); });
}

SignalWatch::~SignalWatch() {
  thread_.request_stop();
  thread_.join();
}

void SignalWatch::disarm() {
  const std::scoped_lock lock(exiting_);
  disarmed_ = true;
}

int SignalWatch::exit_code() const noexcept {
  const int caught = signal_.load();
  return caught == 0 ? 0 : kSignalBase + caught;
}

void SignalWatch::watch(const std::stop_token& done) {
  const sigset_t set = watched_signals();
  double caught_at = 0;
  while (!done.stop_requested()) {
    const timespec poll{0, kPollNanoseconds};
    const int caught = sigtimedwait(&set, nullptr, &poll);
    if (caught > 0 && signal_.load() != 0) _exit(exit_code());
    if (caught > 0) {
      signal_ = caught;
      caught_at = monotonic_seconds();
      source_.request_stop();
    }
    exit_if_stuck(caught_at);
  }
}

void SignalWatch::exit_if_stuck(double caught_at) {
  if (signal_.load() == 0 || monotonic_seconds() - caught_at < kPatienceSeconds) return;
  const std::scoped_lock lock(exiting_);
  if (disarmed_) return;
  on_stuck_();
  _exit(exit_code());
}

}  // namespace cachebisect::cli
