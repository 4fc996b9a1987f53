// A training job in other processes, until the engine lets go of it.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "cachebisect/protocol/replayer.hpp"
#include "cachebisect/remote/adapter_connection.hpp"
#include "cachebisect/remote/messages.hpp"
#include "cachebisect/remote/node_connection.hpp"

namespace cachebisect {

/// A training process whose adapter has answered `describe`.
struct AttachedAdapter {
  std::unique_ptr<AdapterConnection> connection;
  AdapterHello hello;
  AdapterDescription description;
  std::shared_ptr<NodeConnection> node{};  ///< the other node that it runs on; empty: this one
  std::uint64_t process = 0;               ///< that the relay of that node knows it by
};

class CACHEBISECT_INTERNAL_API AttachedReplayer : public Replayer {
 public:
  /// What look_inside() found.
  struct Inside {
    bool changed = false;  ///< there are more stages than before, and the caches are empty
    std::vector<std::string> notes;
  };
  /// Asks for stages of functions that `stage` calls. Throws what run() throws.
  virtual Inside look_inside(const std::string& stage) = 0;

  /// Throws the error that ended the training loop, if one did. Phases that can do without an arm
  /// catch such errors.
  virtual void check_running() const = 0;

  /// Ends the connections: the last call. False if a training process does not react. Never throws.
  virtual bool finish(bool exit, int exit_code, const std::string& text) noexcept = 0;
};

/// The replayer of one process, or of all ranks of a distributed job. `own_node`: name of this
/// machine in reports on jobs of several. Throws Error(usage) if the ranks cannot be measured
/// together.
CACHEBISECT_INTERNAL_API std::unique_ptr<AttachedReplayer> make_replayer(
    std::vector<AttachedAdapter> adapters, const std::stop_token& stop,
    const std::string& own_node = "");

}  // namespace cachebisect
