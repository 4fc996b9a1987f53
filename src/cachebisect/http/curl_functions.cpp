#ifdef CACHEBISECT_WITH_HTTP_CLIENT
#include "cachebisect/http/curl_functions.hpp"

#include "cachebisect/base/error.hpp"

namespace cachebisect {
namespace {

std::shared_ptr<const CurlFunctions> open_curl() {
  auto curl = std::make_shared<CurlFunctions>();
  const NeededLibrary& library = curl->library;
  library.load(curl->global_init, "curl_global_init");
  library.load(curl->easy_init, "curl_easy_init");
  library.load(curl->easy_setopt, "curl_easy_setopt");
  library.load(curl->easy_getinfo, "curl_easy_getinfo");
  library.load(curl->easy_perform, "curl_easy_perform");
  library.load(curl->easy_reset, "curl_easy_reset");
  library.load(curl->easy_strerror, "curl_easy_strerror");
  library.load(curl->easy_cleanup, "curl_easy_cleanup");
  library.load(curl->multi_init, "curl_multi_init");
  library.load(curl->multi_add_handle, "curl_multi_add_handle");
  library.load(curl->multi_remove_handle, "curl_multi_remove_handle");
  library.load(curl->multi_perform, "curl_multi_perform");
  library.load(curl->multi_info_read, "curl_multi_info_read");
  library.load(curl->multi_poll, "curl_multi_poll");
  library.load(curl->multi_cleanup, "curl_multi_cleanup");
  library.load(curl->slist_append, "curl_slist_append");
  library.load(curl->slist_free_all, "curl_slist_free_all");
  library.load(curl->version_info, "curl_version_info");
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
