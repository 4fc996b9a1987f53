#include "cachebisect/doctor/http_client.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/number_parse.hpp"
#include "cachebisect/base/printable.hpp"
#include "cachebisect/base/shared_library.hpp"
#include "cachebisect/base/version.hpp"
#ifdef CACHEBISECT_WITH_HTTP_CLIENT
#include <curl/curl.h>
// Macros that check the types of what is given to a function of this name.
#undef curl_easy_setopt
#undef curl_easy_getinfo
#endif

namespace cachebisect {

std::string shown_url(const std::string& url) {
  std::string shown = url.substr(0, url.find_first_of("?#"));
  const std::size_t scheme = shown.find("://");
  const std::size_t host = scheme == std::string::npos ? 0 : scheme + 3;
  const std::size_t path = std::min(shown.find('/', host), shown.size());
  const std::size_t at = shown.rfind('@', path);
  if (at != std::string::npos && at >= host && at < path) shown.erase(host, at + 1 - host);
  return printable(shown);
}

#ifdef CACHEBISECT_WITH_HTTP_CLIENT

struct CurlFunctions {
  SharedLibrary library{"libcurl.so.4", SharedLibrary::Unload::never};
  decltype(&curl_global_init) global_init = nullptr;
  decltype(&curl_easy_init) easy_init = nullptr;
  decltype(&curl_easy_setopt) easy_setopt = nullptr;
  decltype(&curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&curl_easy_perform) easy_perform = nullptr;
  decltype(&curl_easy_reset) easy_reset = nullptr;
  decltype(&curl_easy_strerror) easy_strerror = nullptr;
  decltype(&curl_easy_cleanup) easy_cleanup = nullptr;
};

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

/// Opened once; it stays in memory.
const std::shared_ptr<const CurlFunctions>& curl_functions() {
  static const std::shared_ptr<const CurlFunctions> curl = open_curl();
  return curl;
}

/// 100000 of "bytes 0-4095/100000".
std::optional<std::uint64_t> size_in_content_range(std::string_view value) {
  const std::size_t slash = value.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  return parse_number<std::uint64_t>(value.substr(slash + 1));
}

/// Whether such a value is of the part that begins there.
bool begins_at(std::string_view value, std::uint64_t begin) {
  constexpr std::string_view kUnit = "bytes ";
  if (!value.starts_with(kUnit)) return false;
  const auto first = split_number<std::uint64_t>(value.substr(kUnit.size()));
  return first && first->value == begin && first->rest.starts_with('-');
}

std::string_view trimmed(std::string_view text) {
  constexpr const char* kSpaces = " \t\r\n";
  const std::size_t begin = std::min(text.find_first_not_of(kSpaces), text.size());
  const std::size_t end = text.find_last_not_of(kSpaces);
  return end == std::string_view::npos ? "" : text.substr(begin, end + 1 - begin);
}

bool is_header(std::string_view line, std::string_view name) {
  if (line.size() <= name.size() || line[name.size()] != ':') return false;
  return std::ranges::equal(line.substr(0, name.size()), name, [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

}  // namespace

/// One read, as the callbacks of libcurl see it.
class HttpClient::Transfer {
 public:
  Transfer(const CurlFunctions& curl, void* handle, const HttpRead& wanted,
           const HttpProgress& progress)
      : curl_(curl), handle_(handle), wanted_(wanted), progress_(progress) {}

  HttpResult run(int silent_seconds) {
    curl_.easy_reset(handle_);
    set(CURLOPT_LOW_SPEED_LIMIT, 1L);
    set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(silent_seconds));
    set_limits();
    set_callbacks();
    const CURLcode code = curl_.easy_perform(handle_);
    read_facts();
    judge(code);
    return std::move(result_);
  }

 private:
  template <class Value>
  void set(CURLoption option, Value value) {
    curl_.easy_setopt(handle_, option, value);
  }
  template <class Value>
  Value get(CURLINFO info) const {
    Value value{};
    curl_.easy_getinfo(handle_, info, &value);
    return value;
  }

  void set_limits() {
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
  void set_callbacks() {
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_WRITEDATA, this);
    set(CURLOPT_WRITEFUNCTION, &on_body);
    set(CURLOPT_HEADERDATA, this);
    set(CURLOPT_HEADERFUNCTION, &on_header);
    set(CURLOPT_XFERINFODATA, this);
    set(CURLOPT_XFERINFOFUNCTION, &on_time);
  }

  static std::size_t on_body(const char* /*bytes*/, std::size_t /*one*/, std::size_t size,
                             void* self) {
    return static_cast<Transfer*>(self)->take_body(size) ? size : 0;
  }
  static std::size_t on_header(const char* bytes, std::size_t /*one*/, std::size_t size,
                               void* self) {
    return static_cast<Transfer*>(self)->take_header({bytes, size}) ? size : 0;
  }
  static int on_time(void* self, curl_off_t /*total*/, curl_off_t /*now*/, curl_off_t /*up*/,
                     curl_off_t /*uploaded*/) {
    auto* const transfer = static_cast<Transfer*>(self);
    transfer->cut_ = transfer->cut_ || transfer->progress_(0);
    return transfer->cut_ ? 1 : 0;
  }

  bool take_body(std::size_t size) {
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
  [[nodiscard]] std::uint64_t most_bytes() const {
    return wanted_.bytes > 0 ? wanted_.bytes : kMostObjectBytes;
  }
  bool take_header(std::string_view line) {
    header_bytes_ += line.size();
    if (header_bytes_ > kMostHeaderBytes) {
      endless_head_ = true;
      return false;
    }
    if (line.starts_with("HTTP/")) content_range_.clear();  // of a redirect before
    constexpr std::string_view kName = "content-range";
    if (is_header(line, kName)) content_range_ = trimmed(line.substr(kName.size() + 1));
    return true;
  }

  void read_facts() {
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

  void judge(CURLcode code) {
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
  [[nodiscard]] std::string problem(CURLcode code) const {
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

  const CurlFunctions& curl_;
  void* handle_;
  const HttpRead& wanted_;
  const HttpProgress& progress_;
  HttpResult result_;
  std::array<char, CURL_ERROR_SIZE> error_{};
  std::string user_agent_;
  std::string range_;
  std::string content_range_;
  long status_ = 0;
  std::size_t header_bytes_ = 0;
  std::size_t refusal_bytes_ = 0;
  bool cut_ = false;
  bool too_much_ = false;
  bool ignored_range_ = false;
  bool endless_head_ = false;
};

HttpClient::HttpClient(int silent_seconds)
    : curl_(curl_functions()), handle_(curl_->easy_init()), silent_seconds_(silent_seconds) {
  if (handle_ == nullptr) throw Error(ErrorKind::usage, "libcurl has no memory for a connection");
}
HttpClient::~HttpClient() { curl_->easy_cleanup(handle_); }

HttpResult HttpClient::read(const HttpRead& wanted, const HttpProgress& progress) {
  return Transfer(*curl_, handle_, wanted, progress).run(silent_seconds_);
}

#else

struct CurlFunctions {};

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
