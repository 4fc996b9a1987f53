// A process of a node: what it says is carried to the engine, except for answers to requests that
// the relay makes for the engine.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <utility>

#include "cachebisect/remote/adapter_connection.hpp"
#include "cachebisect/remote/forwarding.hpp"

namespace cachebisect {

struct RelayedProcess {
  std::uint64_t number;  ///< that the engine knows it by
  Forwarding carried;
  AdapterConnection connection;  ///< to the same process
  bool asked = false;            ///< by the relay: nothing is carried meanwhile
};

using RelayedProcesses = std::list<RelayedProcess>;

}  // namespace cachebisect
