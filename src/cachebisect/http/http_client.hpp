// Reads objects, or parts of them, over HTTP as a loader does: connections are kept. By libcurl,
// which is opened when it is needed.
#pragma once

#include <memory>

#include "cachebisect/base/export.hpp"
#include "cachebisect/http/http_read.hpp"

namespace cachebisect {

struct CurlFunctions;

/// One connection to each server, kept. Not thread safe: one per thread.
class CACHEBISECT_INTERNAL_API HttpClient {
 public:
  /// Gives up on a server that sends nothing for so long. Throws Error(usage) that says what this
  /// build or machine lacks.
  explicit HttpClient(int silent_seconds = 5);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Follows a few redirects, and keeps nothing of the body. More bytes than were asked for, or
  /// than an object may have, end it.
  [[nodiscard]] HttpResult read(const HttpRead& wanted, const HttpProgress& progress);

 private:
  std::shared_ptr<const CurlFunctions> curl_;
  // Not used in a build without libcurl.
  [[maybe_unused]] void* handle_;
  [[maybe_unused]] int silent_seconds_;
};

}  // namespace cachebisect
