#include "cachebisect/http/http_client.hpp"

#include "cachebisect/base/error.hpp"
#ifdef CACHEBISECT_WITH_HTTP_CLIENT
#include "cachebisect/http/curl_functions.hpp"
#include "cachebisect/http/http_transfer.hpp"
#endif

namespace cachebisect {

#ifdef CACHEBISECT_WITH_HTTP_CLIENT

HttpClient::HttpClient(int silent_seconds)
    : curl_(curl_functions()), handle_(curl_->easy_init()), silent_seconds_(silent_seconds) {
  if (handle_ == nullptr) throw Error(ErrorKind::usage, "libcurl has no memory for a connection");
}
HttpClient::~HttpClient() { curl_->easy_cleanup(handle_); }

HttpResult HttpClient::read(const HttpRead& wanted, const HttpProgress& progress) {
  HttpTransfer transfer(*curl_, handle_, wanted, progress);
  transfer.prepare(silent_seconds_);
  return transfer.finish(curl_->easy_perform(handle_));
}

#else

HttpClient::HttpClient(int silent_seconds) : handle_(nullptr), silent_seconds_(silent_seconds) {
  throw Error(ErrorKind::usage,
              "this build has no HTTP client: install libcurl with its headers (Debian's "
              "libcurl4-openssl-dev) and build again");
}
HttpClient::~HttpClient() = default;

HttpResult HttpClient::read(const HttpRead& /*wanted*/, const HttpProgress& /*progress*/) {
  return {};
}

#endif

}  // namespace cachebisect
