// Tests of what reads over HTTP.
#pragma once

#include "support/lacking.hpp"

namespace cachebisect::test {

/// True, and the test is skipped, if this build has no HTTP client.
inline bool lacks_http_client() {
#ifdef CACHEBISECT_WITH_HTTP_CLIENT
  return false;
#else
  skip("libcurl (libcurl4-openssl-dev)");
  return true;
#endif
}

}  // namespace cachebisect::test
