#include "shell/signals.hpp"

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <utility>

#include <sys/syscall.h>
#include <unistd.h>

#include "cachebisect/base/clock.hpp"

namespace cachebisect::cli {
namespace {

constexpr double kRunSeconds = 2;
constexpr double kFileSeconds = 20;
constexpr double kStreamSeconds = 3;
constexpr long kPollNanoseconds = 50'000'000;

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  // A blocked signal is delivered even if it is ignored.
  if (!is_ignored(SIGHUP)) sigaddset(&set, SIGHUP);
  return set;
}

}  // namespace

SignalWatch::SignalWatch(StuckActions actions) : actions_(std::move(actions)) {
  extend_deadline(kRunSeconds);
  const sigset_t set = watched_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::jthread([this](const std::stop_token& done) { watch(done); });
}

SignalWatch::~SignalWatch() {
  begin_output();
  thread_.request_stop();
  thread_.join();
}

void SignalWatch::begin_output() {
  std::unique_lock lock(mutex_);
  if (phase_ == Phase::reporting) {
    lock.unlock();
    for (;;) pause();  // until leave()
  }
  phase_ = Phase::output;
  extend_deadline(kFileSeconds);
}

void SignalWatch::begin_streams() {
  const std::scoped_lock lock(mutex_);
  extend_deadline(kStreamSeconds);
}

void SignalWatch::extend_deadline(double seconds) {
  patience_ = seconds;
  deadline_ = monotonic_seconds() + seconds;
}

int SignalWatch::exit_code() const noexcept {
  const int caught = signal_.load();
  return caught == 0 ? 0 : kSignalBase + caught;
}

void SignalWatch::watch(const std::stop_token& done) {
  const sigset_t set = watched_signals();
  while (!done.stop_requested()) {
    const timespec poll{0, kPollNanoseconds};
    const int caught = sigtimedwait(&set, nullptr, &poll);
    if (caught > 0 && signal_.load() != 0) leave();
    if (caught > 0) {
      signal_ = caught;
      {
        const std::scoped_lock lock(mutex_);
        extend_deadline(patience_);
      }
      source_.request_stop();
    }
    if (signal_.load() != 0) pass_deadline();
  }
}

void SignalWatch::pass_deadline() {
  const std::scoped_lock lock(mutex_);
  if (monotonic_seconds() < deadline_) return;
  if (phase_ != Phase::running || !actions_.report) leave();
  phase_ = Phase::reporting;
  extend_deadline(kFileSeconds);
  reporter_ = std::jthread([this] {
    actions_.report(*this);
    leave();
  });
}

void SignalWatch::leave() const {
  if (actions_.remove_temporaries) actions_.remove_temporaries();
  // A sanitizer's _exit() flushes stdio, whose lock a stopped output holds.
  ::syscall(SYS_exit_group, exit_code());
  std::abort();
}

}  // namespace cachebisect::cli
