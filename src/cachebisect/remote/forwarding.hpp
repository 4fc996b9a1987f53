// Carries bytes between two sockets, in both directions.
#pragma once

#include <string>
#include <vector>

#include <poll.h>

#include "cachebisect/base/export.hpp"
#include "cachebisect/remote/socket_stream.hpp"

namespace cachebisect {

/// A side that does not read holds up only its own direction: at most 64 KiB wait for it. Not
/// thread safe.
class CACHEBISECT_INTERNAL_API Forwarding {
 public:
  /// Both connected. `for_first`: bytes of the second that were read before.
  Forwarding(SocketStream first, SocketStream second, std::string for_first);

  /// What to wait for until there is something to do.
  void add_to(std::vector<pollfd>& polled) const;
  /// Carries what there is, without waiting. False once a side has ended and what it had sent was
  /// delivered, or cannot be.
  bool carry();

 private:
  struct Direction {
    std::string waiting{};
    bool ended = false;  ///< nothing more comes
  };
  static bool carry(SocketStream& from, SocketStream& to, Direction& direction);

  SocketStream first_;
  SocketStream second_;
  Direction to_first_;
  Direction to_second_;
};

}  // namespace cachebisect
