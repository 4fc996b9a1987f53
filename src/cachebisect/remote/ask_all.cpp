#include "cachebisect/remote/ask_all.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>
#include <sys/epoll.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/remote/stop_event.hpp"

namespace cachebisect {
namespace {

/// Answers that are taken at once.
constexpr std::size_t kEventsAtOnce = 256;
constexpr std::uint64_t kStopped = ~std::uint64_t{0};
/// What a relay may take in addition, to stop its ranks and say which of them was silent.
constexpr double kRelaySeconds = 3;

[[noreturn]] void fail_to_wait() {
  throw Error(ErrorKind::internal, "epoll: " + errno_text(errno));
}

void watch(const FileDescriptor& waiting, int descriptor, std::uint64_t what) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = what;
  if (::epoll_ctl(waiting.get(), EPOLL_CTL_ADD, descriptor, &event) != 0) fail_to_wait();
}

}  // namespace

AskAll::AskAll(std::vector<AdapterConnection*> connections, std::size_t relays)
    : connections_(std::move(connections)),
      first_relay_(connections_.size() - relays),
      waiting_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!waiting_.is_open()) fail_to_wait();
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    watch(waiting_, connections_[i]->descriptor(), i);
  }
}

/// One request.
class AskAll::Round {
 public:
  Round(AskAll& all, const std::stop_token& stop) : all_(all), stop_(stop), stopped_(stop) {
    answers_.values.resize(all.connections_.size());
    answers_.errors.resize(all.connections_.size());
    open_.resize(all.connections_.size(), false);
    watch(all.waiting_, stopped_.descriptor(), kStopped);
  }
  ~Round() { ::epoll_ctl(all_.waiting_.get(), EPOLL_CTL_DEL, stopped_.descriptor(), nullptr); }
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;

  Answers ask(const Request& request) {
    if (stop_.stop_requested()) {
      const Error stopped(ErrorKind::interrupted, "stopped while the training process ran");
      answers_.errors.front() = std::make_exception_ptr(stopped);
      return std::move(answers_);
    }
    for (std::size_t i = 0; i < open_.size() && !failed_; ++i) {
      attempt(i, [&] {
        nlohmann::json asked = request(i);
        if (asked.is_null()) return;
        all_.connections_[i]->send(std::move(asked));
        open(i);
      });
    }
    while (left_ > 0 && !failed_ && !stop_.stop_requested()) {
      if (!take_answers()) break;
    }
    if (left_ > 0) end_the_rest();
    return std::move(answers_);
  }

 private:
  template <class Work>
  void attempt(std::size_t i, const Work& work) {
    try {
      work();
    } catch (...) {
      answers_.errors[i] = std::current_exception();
      if (!failed_ && all_.on_failure_) all_.on_failure_(i, answers_.errors[i]);
      failed_ = true;
      close(i);
    }
  }

  void open(std::size_t i) {
    open_[i] = true;
    ++left_;
    if (!all_.is_relay(i)) ++ranks_left_;
  }

  void close(std::size_t i) {
    if (!open_[i]) return;
    open_[i] = false;
    --left_;
    if (!all_.is_relay(i)) --ranks_left_;
  }

  /// False if all were silent for as long as they may be.
  bool take_answers() {
    std::array<epoll_event, kEventsAtOnce> events{};
    constexpr double kMilliseconds = 1e3;
    const double seconds =
        all_.connections_.front()->answer_limit() + (ranks_left_ > 0 ? 0 : kRelaySeconds);
    const int limit = static_cast<int>(std::min(std::ceil(kMilliseconds * seconds), 2e9));
    const int count =
        ::epoll_wait(all_.waiting_.get(), events.data(), static_cast<int>(events.size()), limit);
    if (count < 0 && errno != EINTR) fail_to_wait();
    for (int e = 0; e < count; ++e) {
      const std::uint64_t which = events[static_cast<std::size_t>(e)].data.u64;
      if (which != kStopped) take_answer(which);
    }
    return count != 0;
  }

  void take_answer(std::size_t i) {
    attempt(i, [&] {
      auto answer = all_.connections_[i]->poll_answer();
      if (!answer || !open_[i]) return;
      answers_.values[i] = *std::move(answer);
      failed_ = failed_ || (all_.is_relay(i) && answers_.values[i].contains("failed"));
      close(i);
    });
  }

  /// Those that have not answered are waited for side by side: each may take its time to stop.
  void end_the_rest() {
    const bool silent = !failed_ && !stop_.stop_requested();
    std::stop_source source;
    if (!silent) source.request_stop();
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      if (!open_[i]) continue;
      threads.emplace_back([&, i] {
        try {
          answers_.values[i] = all_.connections_[i]->await_open(0, source.get_token());
        } catch (...) {
          answers_.errors[i] = std::current_exception();
        }
      });
    }
  }

  AskAll& all_;
  std::stop_token stop_;
  StopEvent stopped_;
  Answers answers_;
  std::vector<bool> open_;      ///< asked, and not answered
  std::size_t left_ = 0;        ///< how many are open
  std::size_t ranks_left_ = 0;  ///< of these, those that are no relays
  bool failed_ = false;
};

AskAll::Answers AskAll::ask(const Request& request, const std::stop_token& stop) {
  return Round(*this, stop).ask(request);
}

}  // namespace cachebisect
