// The interface of the module that speaks HTTP (src/http_server): it links cpp-httplib, which loads
// libraries of its own, so it is opened when the emulator starts.
#pragma once

#include "cachebisect/emulator/object_service.hpp"

namespace cachebisect {

/// Answers the requests of a connection until its end, an idle minute, or a stop, when
/// `stop_descriptor` becomes readable. The socket does not block, and stays open.
using ServeConnection = void (*)(ObjectService& service, int socket, int stop_descriptor);
inline constexpr const char* kServeConnection = "cachebisect_serve_connection";

}  // namespace cachebisect
