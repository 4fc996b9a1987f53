// Waits for a training process that has a loader.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/remote/remote_replayer.hpp"
#include "cachebisect/remote/socket_listener.hpp"

namespace cachebisect {

struct AwaitOptions {
  double hello_seconds = 30;  ///< until the first adapter has said hello
  /// Becomes readable when the command that starts the adapters has ended; negative: there is no
  /// such command, and the wait ends with the last connection.
  int command_ended = -1;
  AdapterLimits limits{};
  BusyCallback on_busy{};
};

struct AwaitResult {
  std::optional<AttachedAdapter> adapter;  ///< empty: all processes ended without a loader
  std::vector<AdapterHello> seen;          ///< of all that said hello
};

/// Greets every process that connects, and returns the first that describes its loader; the others
/// are told to go on without. Throws Error(usage) if none says hello in time or one speaks another
/// version of the protocol, what an adapter answers instead of its description, and
/// Error(interrupted) on `stop`.
CACHEBISECT_INTERNAL_API AwaitResult await_adapter(const SocketListener& listener,
                                                   const AwaitOptions& options,
                                                   const std::stop_token& stop);

/// "train.py (torch 2.11.0), setup.py": the processes that said hello, for messages.
CACHEBISECT_INTERNAL_API std::string names_of(const std::vector<AdapterHello>& seen);

}  // namespace cachebisect
