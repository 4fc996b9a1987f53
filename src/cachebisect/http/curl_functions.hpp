// The functions of libcurl, opened when they are needed: it loads thirty libraries. Sources that
// are built with CACHEBISECT_WITH_HTTP_CLIENT alone include this.
#pragma once

#include <memory>

#include <curl/curl.h>

#include "cachebisect/base/needed_library.hpp"
// Macros that check the types of what is given to a function of this name.
#undef curl_easy_setopt
#undef curl_easy_getinfo

namespace cachebisect {

struct CurlFunctions {
  NeededLibrary library{"libcurl.so.4", "libcurl", "libcurl4"};
  decltype(&curl_global_init) global_init = nullptr;
  decltype(&curl_easy_init) easy_init = nullptr;
  decltype(&curl_easy_setopt) easy_setopt = nullptr;
  decltype(&curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&curl_easy_perform) easy_perform = nullptr;
  decltype(&curl_easy_reset) easy_reset = nullptr;
  decltype(&curl_easy_strerror) easy_strerror = nullptr;
  decltype(&curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&curl_multi_init) multi_init = nullptr;
  decltype(&curl_multi_add_handle) multi_add_handle = nullptr;
  decltype(&curl_multi_remove_handle) multi_remove_handle = nullptr;
  decltype(&curl_multi_perform) multi_perform = nullptr;
  decltype(&curl_multi_info_read) multi_info_read = nullptr;
  decltype(&curl_multi_poll) multi_poll = nullptr;
  decltype(&curl_multi_cleanup) multi_cleanup = nullptr;
  decltype(&curl_slist_append) slist_append = nullptr;
  decltype(&curl_slist_free_all) slist_free_all = nullptr;
  decltype(&curl_version_info) version_info = nullptr;
};

/// Opened once; it stays in memory. Throws Error(usage) that says what the machine lacks.
[[nodiscard]] const std::shared_ptr<const CurlFunctions>& curl_functions();

}  // namespace cachebisect
