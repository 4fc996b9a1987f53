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
  load(*curl, curl->multi_init, "curl_multi_init");
  load(*curl, curl->multi_add_handle, "curl_multi_add_handle");
  load(*curl, curl->multi_remove_handle, "curl_multi_remove_handle");
  load(*curl, curl->multi_perform, "curl_multi_perform");
  load(*curl, curl->multi_info_read, "curl_multi_info_read");
  load(*curl, curl->multi_poll, "curl_multi_poll");
  load(*curl, curl->multi_cleanup, "curl_multi_cleanup");
  load(*curl, curl->slist_append, "curl_slist_append");
  load(*curl, curl->slist_free_all, "curl_slist_free_all");
  load(*curl, curl->version_info, "curl_version_info");
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
