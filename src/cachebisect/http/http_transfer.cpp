#ifdef CACHEBISECT_WITH_HTTP_CLIENT
#include "cachebisect/http/http_transfer.hpp"

#include <algorithm>
#include <new>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/version.hpp"
#include "cachebisect/http/answer_head.hpp"
#include "cachebisect/http/object_address.hpp"

namespace cachebisect {
namespace {

constexpr long kBufferBytes = 262'144;
constexpr long kConnectMilliseconds = 5000;
constexpr long kReadMilliseconds = 60'000;
constexpr long kMostRedirects = 5;
constexpr std::size_t kMostRefusalBytes = 2048;
/// SHA-256 of an empty body, which a GET has.
constexpr const char* kDigestOfNothing =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

}  // namespace

void HttpTransfer::prepare(int silent_seconds) {
  curl_.easy_reset(handle_);
  set(CURLOPT_BUFFERSIZE, kBufferBytes);
  set(CURLOPT_LOW_SPEED_LIMIT, 1L);
  set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(silent_seconds));
  set_limits();
  set_access();
  set_callbacks();
}

void HttpTransfer::set_limits() {
  set(CURLOPT_URL, wanted_.url.c_str());
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_CONNECTTIMEOUT_MS, kConnectMilliseconds);
  set(CURLOPT_TIMEOUT_MS, kReadMilliseconds);
  set(CURLOPT_FOLLOWLOCATION, wanted_.access == nullptr || wanted_.access->may_redirect ? 1L : 0L);
  set(CURLOPT_MAXREDIRS, kMostRedirects);
#if LIBCURL_VERSION_NUM >= 0x075500
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
  set(CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
  set(CURLOPT_REDIR_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
  // As the clients of loaders do; one request at a time on a connection.
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  user_agent_ = std::string("cachebisect/") + version();
  set(CURLOPT_USERAGENT, user_agent_.c_str());
  set(CURLOPT_ERRORBUFFER, error_.data());
  if (!wanted_.begin) return;
  range_ =
      std::to_string(*wanted_.begin) + "-" + std::to_string(*wanted_.begin + wanted_.bytes - 1);
  set(CURLOPT_RANGE, range_.c_str());
}

void HttpTransfer::set_access() {
  if (wanted_.access == nullptr) return;
  const ObjectAccess& access = *wanted_.access;
  set(CURLOPT_PATH_AS_IS, access.path_as_is ? 1L : 0L);
  if (access.signing.empty()) return;
  constexpr unsigned kSignsHeaders = 0x075800;
  if (curl_.version_info(CURLVERSION_NOW)->version_num < kSignsHeaders) {
    throw Error(ErrorKind::usage,
                "libcurl is too old to sign requests of S3: install 7.88 or later, or name signed "
                "https:// addresses");
  }
  set(CURLOPT_AWS_SIGV4, access.signing.c_str());
  set(CURLOPT_USERNAME, access.key.c_str());
  set(CURLOPT_PASSWORD, access.secret.c_str());
  // libcurl signs these with its own; S3 wants the first, which some versions leave out.
  add_header(std::string("x-amz-content-sha256: ") + kDigestOfNothing);
  if (!access.token.empty()) add_header("x-amz-security-token: " + access.token);
  set(CURLOPT_HTTPHEADER, headers_.get());
}

void HttpTransfer::add_header(const std::string& line) {
  curl_slist* const longer = curl_.slist_append(headers_.get(), line.c_str());
  if (longer == nullptr) throw std::bad_alloc();
  static_cast<void>(headers_.release());
  headers_.reset(longer);
}

void HttpTransfer::set_callbacks() {
  set(CURLOPT_NOPROGRESS, 0L);
  set(CURLOPT_WRITEDATA, this);
  set(CURLOPT_WRITEFUNCTION, &on_body);
  set(CURLOPT_HEADERDATA, this);
  set(CURLOPT_HEADERFUNCTION, &on_header);
  set(CURLOPT_XFERINFODATA, this);
  set(CURLOPT_XFERINFOFUNCTION, &on_time);
}

std::size_t HttpTransfer::on_body(const char* bytes, std::size_t /*one*/, std::size_t size,
                                  void* self) {
  return static_cast<HttpTransfer*>(self)->take_body(std::as_bytes(std::span(bytes, size))) ? size
                                                                                            : 0;
}

std::size_t HttpTransfer::on_header(const char* bytes, std::size_t /*one*/, std::size_t size,
                                    void* self) {
  return static_cast<HttpTransfer*>(self)->take_header({bytes, size}) ? size : 0;
}

int HttpTransfer::on_time(void* self, curl_off_t /*total*/, curl_off_t /*now*/, curl_off_t /*up*/,
                          curl_off_t /*uploaded*/) {
  auto* const transfer = static_cast<HttpTransfer*>(self);
  transfer->cut_ = transfer->cut_ || transfer->progress_(0);
  return transfer->cut_ ? 1 : 0;
}

bool HttpTransfer::take_body(std::span<const std::byte> bytes) {
  const long status = get<long>(CURLINFO_RESPONSE_CODE);
  if (status != kOkStatus && status != kPartStatus) {
    // Words that explain a refusal; of what goes on for long, the connection is given up.
    refusal_bytes_ += bytes.size();
    const std::size_t kept = std::min(bytes.size(), kMostRefusalBytes - refusal_.size());
    refusal_.append(reinterpret_cast<const char*>(bytes.data()), kept);
    return refusal_bytes_ <= kMostHeaderBytes;
  }
  if (wanted_.begin && status != kPartStatus) {
    ignored_range_ = true;
    return false;
  }
  if (bytes.size() > most_bytes() - result_.bytes) {
    result_.bytes += bytes.size();
    too_much_ = true;
    return false;
  }
  keep(bytes);
  result_.bytes += bytes.size();
  cut_ = cut_ || progress_(bytes.size());
  return !cut_;
}

void HttpTransfer::keep(std::span<const std::byte> bytes) const {
  std::uint64_t at = result_.bytes;
  for (const std::span<std::byte> place : wanted_.into) {
    if (at < place.size()) {
      const std::size_t here = std::min<std::size_t>(bytes.size(), place.size() - at);
      std::ranges::copy(bytes.first(here), place.begin() + static_cast<std::ptrdiff_t>(at));
      bytes = bytes.subspan(here);
      at += here;
    }
    at -= std::min<std::uint64_t>(at, place.size());
  }
}

std::uint64_t HttpTransfer::most_bytes() const {
  return wanted_.bytes > 0 ? wanted_.bytes : kMostObjectBytes;
}

bool HttpTransfer::take_header(std::string_view line) {
  header_bytes_ += line.size();
  if (header_bytes_ > kMostHeaderBytes) {
    endless_head_ = true;
    return false;
  }
  if (line.starts_with("HTTP/")) {  // of a redirect before
    content_range_.clear();
    etag_.clear();
    modified_.clear();
  }
  if (const auto value = header_value(line, "etag")) etag_ = *value;
  if (const auto value = header_value(line, "last-modified")) modified_ = *value;
  if (const auto value = header_value(line, "content-range")) content_range_ = *value;
  return true;
}

}  // namespace cachebisect
#endif
