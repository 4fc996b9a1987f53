#include "cachebisect/remote/relay_ask.hpp"

#include <cerrno>
#include <memory>
#include <stop_token>
#include <utility>

#include <sys/eventfd.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/remote/relay_work.hpp"

namespace cachebisect {
namespace {

FileDescriptor new_event() {
  FileDescriptor event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.is_open()) throw Error(ErrorKind::internal, "eventfd: " + errno_text(errno));
  return event;
}

}  // namespace

RelayAsk::RelayAsk() : event_(new_event()) {}

RelayAsk::~RelayAsk() { end(); }

void RelayAsk::begin(std::uint64_t id, NodeAsk ask, RelayedProcesses& processes) {
  end();
  done_ = false;
  auto work = std::make_unique<RelayWork>(
      [this](std::string message, bool last) { post(std::move(message), last); }, id,
      std::move(ask), processes);
  asked_ = work->take_over();
  thread_ =
      std::jthread([work = std::move(work)](const std::stop_token& stop) { work->run(stop); });
}

void RelayAsk::post(std::string message, bool last) {
  const std::scoped_lock lock(mutex_);
  if (!message.empty()) messages_.push_back(std::move(message));
  done_ = done_ || last;
  static_cast<void>(::eventfd_write(event_.get(), 1));
}

std::vector<std::string> RelayAsk::take() {
  eventfd_t ignored = 0;
  static_cast<void>(::eventfd_read(event_.get(), &ignored));
  std::vector<std::string> messages;
  bool done = false;
  {
    const std::scoped_lock lock(mutex_);
    messages = std::exchange(messages_, {});
    done = done_;
  }
  if (done) end();
  return messages;
}

void RelayAsk::end() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
  for (RelayedProcess* process : asked_) {
    process->connection.set_busy_callback({});
    process->asked = false;
  }
  asked_.clear();
}

}  // namespace cachebisect
