// The relay of another node, as the engine sees it.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/remote/adapter_connection.hpp"

namespace cachebisect {

/// How the engine's run has ended, for the other nodes.
struct RunEnd {
  bool exit = false;  ///< the training processes end too
  int exit_code = 0;
  std::string text;       ///< the verdict, or why there is none
  bool told = false;      ///< all training processes know
  bool measured = false;  ///< training processes were found
};

/// Not thread safe.
class CACHEBISECT_INTERNAL_API NodeConnection {
 public:
  NodeConnection(std::string name, SocketStream socket);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] int descriptor() const noexcept { return connection_.descriptor(); }
  /// For requests to all ranks of the node at once.
  [[nodiscard]] AdapterConnection& connection() noexcept { return connection_; }
  /// For what its ranks say about such requests.
  void set_busy_callback(BusyCallback callback) {
    connection_.set_busy_callback(std::move(callback));
  }
  /// Throws Error(data) naming the node if its relay has ended.
  void check();
  /// What the node has. Throws as AdapterConnection::request() does.
  [[nodiscard]] AvailableMemory memory(const std::stop_token& stop);
  /// Processes that start from now on are not measured. Never throws.
  void close_to_processes() noexcept;
  /// Says how the run has ended: the last call. Never throws.
  void finish(const RunEnd& end) noexcept;

 private:
  nlohmann::json request(const nlohmann::json& message, const std::stop_token& stop);

  std::string name_;
  AdapterConnection connection_;
};

}  // namespace cachebisect
