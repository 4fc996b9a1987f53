// A relay's requests to the ranks of its node, with one answer for all of them.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/file_descriptor.hpp"
#include "cachebisect/remote/node_ask.hpp"
#include "cachebisect/remote/relayed_process.hpp"

namespace cachebisect {

/// One at a time, in a thread of its own: the caller goes on carrying messages. Its calls are not
/// thread safe.
class CACHEBISECT_INTERNAL_API RelayAsk {
 public:
  /// Throws Error(internal) if the system has no descriptor left.
  RelayAsk();
  ~RelayAsk();
  RelayAsk(const RelayAsk&) = delete;
  RelayAsk& operator=(const RelayAsk&) = delete;

  /// Asks the processes of `ask`, which stay where they are until is_open() is false. One that is
  /// not there any more has failed. Ends what is open before.
  void begin(std::uint64_t id, NodeAsk ask, RelayedProcesses& processes);
  /// Has the ranks give up what is open, within a second.
  void stop() noexcept { thread_.request_stop(); }
  /// True until take() has returned the last message.
  [[nodiscard]] bool is_open() const noexcept { return thread_.joinable(); }
  /// Readable when there is something to take.
  [[nodiscard]] int descriptor() const noexcept { return event_.get(); }
  /// Messages for the engine.
  [[nodiscard]] std::vector<std::string> take();
  /// Stops what is open, and waits for its end.
  void end();

 private:
  void post(std::string message, bool last);

  FileDescriptor event_;
  std::mutex mutex_;
  std::vector<std::string> messages_;  ///< guarded by mutex_
  bool done_ = false;                  ///< guarded by mutex_
  std::vector<RelayedProcess*> asked_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace cachebisect
