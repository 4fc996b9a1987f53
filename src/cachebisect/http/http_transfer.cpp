#ifdef CACHEBISECT_WITH_HTTP_CLIENT
#include "cachebisect/http/http_transfer.hpp"

#include <algorithm>
#include <utility>

#include "cachebisect/base/printable.hpp"
#include "cachebisect/base/version.hpp"
#include "cachebisect/http/answer_head.hpp"
#include "cachebisect/http/shown_url.hpp"

namespace cachebisect {
namespace {

constexpr long kConnectMilliseconds = 5000;
constexpr long kReadMilliseconds = 60'000;
constexpr long kMostRedirects = 5;
constexpr std::size_t kMostHeaderBytes = 262'144;
constexpr long kOkStatus = 200;
constexpr long kPartStatus = 206;
constexpr long kTooManyStatus = 429;
constexpr long kSlowDownStatus = 503;
constexpr double kPerMillion = 1e-6;

}  // namespace

void HttpTransfer::prepare(int silent_seconds) {
  curl_.easy_reset(handle_);
  set(CURLOPT_LOW_SPEED_LIMIT, 1L);
  set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(silent_seconds));
  set_limits();
  set_callbacks();
}

HttpResult HttpTransfer::finish(CURLcode code) {
  read_facts();
  judge(code);
  return std::move(result_);
}

void HttpTransfer::set_limits() {
  set(CURLOPT_URL, wanted_.url.c_str());
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_CONNECTTIMEOUT_MS, kConnectMilliseconds);
  set(CURLOPT_TIMEOUT_MS, kReadMilliseconds);
  set(CURLOPT_FOLLOWLOCATION, 1L);
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

void HttpTransfer::set_callbacks() {
  set(CURLOPT_NOPROGRESS, 0L);
  set(CURLOPT_WRITEDATA, this);
  set(CURLOPT_WRITEFUNCTION, &on_body);
  set(CURLOPT_HEADERDATA, this);
  set(CURLOPT_HEADERFUNCTION, &on_header);
  set(CURLOPT_XFERINFODATA, this);
  set(CURLOPT_XFERINFOFUNCTION, &on_time);
}

std::size_t HttpTransfer::on_body(const char* /*bytes*/, std::size_t /*one*/, std::size_t size,
                                  void* self) {
  return static_cast<HttpTransfer*>(self)->take_body(size) ? size : 0;
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

bool HttpTransfer::take_body(std::size_t size) {
  const long status = get<long>(CURLINFO_RESPONSE_CODE);
  if (status != kOkStatus && status != kPartStatus) {
    // Words that explain a refusal; of what goes on for long, the connection is given up.
    refusal_bytes_ += size;
    return refusal_bytes_ <= kMostHeaderBytes;
  }
  if (wanted_.begin && status != kPartStatus) {
    ignored_range_ = true;
    return false;
  }
  result_.bytes += size;
  if (result_.bytes > most_bytes()) {
    too_much_ = true;
    return false;
  }
  cut_ = cut_ || progress_(size);
  return !cut_;
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
  if (line.starts_with("HTTP/")) content_range_.clear();  // of a redirect before
  if (const auto value = header_value(line, "content-range")) content_range_ = *value;
  return true;
}

void HttpTransfer::read_facts() {
  status_ = get<long>(CURLINFO_RESPONSE_CODE);
  result_.connections = static_cast<int>(get<long>(CURLINFO_NUM_CONNECTS));
  const curl_off_t connected = std::max(get<curl_off_t>(CURLINFO_APPCONNECT_TIME_T),
                                        get<curl_off_t>(CURLINFO_CONNECT_TIME_T));
  result_.connect_seconds = kPerMillion * static_cast<double>(connected);
  result_.retry_seconds = static_cast<double>(get<curl_off_t>(CURLINFO_RETRY_AFTER));
  result_.is_part =
      status_ == kPartStatus && wanted_.begin && begins_at(content_range_, *wanted_.begin);
  const auto length = get<curl_off_t>(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T);
  if (status_ == kPartStatus) {
    result_.object_bytes = size_in_content_range(content_range_);
  } else if (status_ == kOkStatus && length >= 0) {
    result_.object_bytes = static_cast<std::uint64_t>(length);
  }
}

void HttpTransfer::judge(CURLcode code) {
  using Outcome = HttpResult::Outcome;
  if (status_ == kTooManyStatus || status_ == kSlowDownStatus) {
    result_.outcome = Outcome::throttled;
  } else if (cut_) {
    result_.outcome = Outcome::cut;
  } else if (const std::string why = problem(code); !why.empty()) {
    result_.problem = shown_url(wanted_.url) + ": " + why;
  } else {
    result_.outcome = Outcome::whole;
  }
}

std::string HttpTransfer::problem(CURLcode code) const {
  if (endless_head_) return "the head of its answer does not end";
  if (ignored_range_) return "the server sends the whole object where a part was asked for";
  if (too_much_) {
    return "the server sends more than the " + std::to_string(most_bytes()) + " bytes of " +
           (wanted_.bytes > 0 ? "what was asked for" : "the largest object that is read whole");
  }
  const bool refused = status_ != kOkStatus && status_ != kPartStatus;
  if (refused && (code == CURLE_OK || refusal_bytes_ > kMostHeaderBytes)) {
    return "HTTP status " + std::to_string(status_);
  }
  if (code != CURLE_OK) {
    const std::string detail = error_.front() != '\0' ? error_.data() : curl_.easy_strerror(code);
    return printable(detail);
  }
  if (wanted_.begin && !result_.is_part) return "the server sends another part than asked for";
  if (wanted_.bytes > 0 && result_.bytes != wanted_.bytes) {
    return "the server sent " + std::to_string(result_.bytes) + " of " +
           std::to_string(wanted_.bytes) + " bytes";
  }
  return "";
}

}  // namespace cachebisect
#endif
