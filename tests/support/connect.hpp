// Connects to the engine's socket, as an adapter does.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include <sys/socket.h>
#include <sys/un.h>

#include "cachebisect/base/file_descriptor.hpp"

namespace cachebisect::test {

/// Tries until the socket exists, at most a minute; not open after that.
inline FileDescriptor connect_to(const std::string& path) {
  constexpr int kPatience = 6000;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof(address.sun_path) - 1));
  for (int i = 0; i < kPatience; ++i) {
    FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0)
      return socket;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return {};
}

}  // namespace cachebisect::test
