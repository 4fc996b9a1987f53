#ifdef CACHEBISECT_WITH_HTTP_CLIENT
#include "cachebisect/http/curl_functions.hpp"

#include <string>

#include "cachebisect/base/error.hpp"

namespace cachebisect {
namespace {

template <class Function>
void load(CurlFunctions& curl, Function& function, const char* name) {
  function = curl.library.function<Function>(name);
  if (function == nullptr) throw Error(ErrorKind::usage, std::string("libcurl has no ") + name);
}

std::shared_ptr<const CurlFunctions> open_curl() {
  auto curl = std::make_shared<CurlFunctions>();
  if (!curl->library.is_open()) {
    throw Error(ErrorKind::usage, "libcurl cannot be opened: " + curl->library.error() +
                                      "; install it (Debian's libcurl4)");
  }
  load(*curl, curl->global_init, "curl_global_init");
  load(*curl, curl->easy_init, "curl_easy_init");
  load(*curl, curl->easy_setopt, "curl_easy_setopt");
  load(*curl, curl->easy_getinfo, "curl_easy_getinfo");
  load(*curl, curl->easy_perform, "curl_easy_perform");
  load(*curl, curl->easy_reset, "curl_easy_reset");
  load(*curl, curl->easy_strerror, "curl_easy_strerror");
  load(*curl, curl->easy_cleanup, "curl_easy_cleanup");
  if (curl->global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    throw Error(ErrorKind::usage, "libcurl cannot be set up");
  }
  return curl;
}

}  // namespace

const std::shared_ptr<const CurlFunctions>& curl_functions() {
  static const std::shared_ptr<const CurlFunctions> curl = open_curl();
  return curl;
}

}  // namespace cachebisect
#endif
