// The socket on which the engine listens for adapters.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/file_descriptor.hpp"

namespace cachebisect {

/// A listening Unix stream socket, which only its user may connect to.
class CACHEBISECT_INTERNAL_API SocketListener {
 public:
  /// Throws Error(usage) that names the path if it is too long, exists or cannot be created.
  explicit SocketListener(std::string path);
  ~SocketListener();
  SocketListener(const SocketListener&) = delete;
  SocketListener& operator=(const SocketListener&) = delete;

  /// The next connection; not open if none is waiting.
  [[nodiscard]] FileDescriptor accept() const;
  /// Removes the socket: whatever connects from now on is refused, and connections that were not
  /// accepted are reset. May be called twice; the destructor does it too.
  void close() noexcept;
  [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
  FileDescriptor socket_;
};

}  // namespace cachebisect
