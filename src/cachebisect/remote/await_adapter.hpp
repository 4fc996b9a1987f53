// Waits for a training process that has a loader.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/remote/attached_replayer.hpp"
#include "cachebisect/remote/node_listener.hpp"
#include "cachebisect/remote/socket_listener.hpp"

namespace cachebisect {

struct AwaitOptions {
  double hello_seconds = 30;  ///< until the first adapter has said hello
  /// Becomes readable when the command that starts the adapters has ended; negative: there is no
  /// such command, and the wait ends with the last connection.
  int command_ended = -1;
  AdapterLimits limits{};
  BusyCallback on_busy{};
  /// What a process that answers with an error instead of its description is told.
  bool exit_after_error = false;
  /// Called after such a process has taken note of it.
  std::function<void()> on_refusal{};
  NodeListener* nodes = nullptr;  ///< of a job of several machines
};

struct AwaitResult {
  /// One process, or all ranks of a distributed job in order; empty: all processes ended without a
  /// loader.
  std::vector<AttachedAdapter> adapters;
  std::vector<AdapterHello> seen;  ///< of all that said hello
};

/// Greets every process that connects, and returns the first that describes its loader, with all
/// other ranks if it is one of several; the others are told to go on without. Throws Error(usage)
/// if none says hello in time, one speaks another version of the protocol or a rank finds no
/// loader, what an adapter answers instead of its description, what NodeListener::serve() throws,
/// and Error(interrupted) on `stop`.
CACHEBISECT_INTERNAL_API AwaitResult await_adapter(const SocketListener& listener,
                                                   const AwaitOptions& options,
                                                   const std::stop_token& stop);

/// "train.py (torch 2.11.0), setup.py": the processes that said hello, for messages.
CACHEBISECT_INTERNAL_API std::string names_of(const std::vector<AdapterHello>& seen);

}  // namespace cachebisect
