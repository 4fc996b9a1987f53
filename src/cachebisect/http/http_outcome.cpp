#ifdef CACHEBISECT_WITH_HTTP_CLIENT
#include <algorithm>
#include <array>
#include <utility>

#include "cachebisect/base/printable.hpp"
#include "cachebisect/http/answer_head.hpp"
#include "cachebisect/http/http_transfer.hpp"
#include "cachebisect/http/shown_url.hpp"

namespace cachebisect {
namespace {

constexpr long kTooManyStatus = 429;
constexpr long kSlowDownStatus = 503;
constexpr double kPerMillion = 1e-6;

}  // namespace

HttpResult HttpTransfer::finish(CURLcode code) {
  read_facts();
  judge(code);
  return std::move(result_);
}

void HttpTransfer::read_facts() {
  result_.status = get<long>(CURLINFO_RESPONSE_CODE);
  result_.connections = static_cast<int>(get<long>(CURLINFO_NUM_CONNECTS));
  const curl_off_t connected = std::max(get<curl_off_t>(CURLINFO_APPCONNECT_TIME_T),
                                        get<curl_off_t>(CURLINFO_CONNECT_TIME_T));
  result_.connect_seconds = kPerMillion * static_cast<double>(connected);
  result_.retry_seconds = static_cast<double>(get<curl_off_t>(CURLINFO_RETRY_AFTER));
  result_.tag = etag_.empty() ? modified_ : etag_;
  result_.is_part =
      result_.status == kPartStatus && wanted_.begin && begins_at(content_range_, *wanted_.begin);
  const auto length = get<curl_off_t>(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T);
  if (result_.status == kPartStatus) {
    result_.object_bytes = size_in_content_range(content_range_);
  } else if (result_.status == kOkStatus && length >= 0) {
    result_.object_bytes = static_cast<std::uint64_t>(length);
  }
}

void HttpTransfer::judge(CURLcode code) {
  using Outcome = HttpResult::Outcome;
  if (result_.status == kTooManyStatus || result_.status == kSlowDownStatus) {
    result_.outcome = Outcome::throttled;
    result_.may_pass = true;
  } else if (cut_) {
    result_.outcome = Outcome::cut;
  } else if (const std::string why = problem(code); !why.empty()) {
    result_.problem = (wanted_.shown.empty() ? shown_url(wanted_.url) : wanted_.shown) + ": " + why;
    result_.may_pass = may_pass(code);
  } else {
    result_.outcome = Outcome::whole;
  }
}

bool HttpTransfer::may_pass(CURLcode code) const {
  constexpr std::array<long, 4> kPassing{408, 500, 502, 504};
  constexpr std::array kLost{CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT,
                             CURLE_OPERATION_TIMEDOUT,   CURLE_PARTIAL_FILE,
                             CURLE_SEND_ERROR,           CURLE_RECV_ERROR,
                             CURLE_GOT_NOTHING};
  if (endless_head_ || ignored_range_ || too_much_) return false;
  return std::ranges::find(kPassing, result_.status) != kPassing.end() ||
         std::ranges::find(kLost, code) != kLost.end();
}

std::string HttpTransfer::problem(CURLcode code) const {
  if (endless_head_) return "the head of its answer does not end";
  if (ignored_range_) return "the server sends the whole object where a part was asked for";
  if (too_much_) {
    return "the server sends more than the " + std::to_string(most_bytes()) + " bytes of " +
           (wanted_.bytes > 0 ? "what was asked for" : "the largest object that is read whole");
  }
  const bool refused = result_.status != kOkStatus && result_.status != kPartStatus;
  if (refused && (code == CURLE_OK || refusal_bytes_ > kMostHeaderBytes)) {
    return refusal_text(result_.status, refusal_);
  }
  if (code != CURLE_OK) {
    const std::string detail = error_.front() != '\0' ? error_.data() : curl_.easy_strerror(code);
    return printable(detail);
  }
  if (wanted_.begin && !result_.is_part) return "the server sends another part than asked for";
  const std::uint64_t whole = expected_bytes();
  if (wanted_.bytes > 0 && result_.bytes != whole) {
    return "the server sent " + std::to_string(result_.bytes) + " of " + std::to_string(whole) +
           " bytes";
  }
  return "";
}

std::uint64_t HttpTransfer::expected_bytes() const {
  if (!wanted_.may_end) return wanted_.bytes;
  if (!wanted_.begin) return result_.bytes;
  if (!result_.object_bytes) return wanted_.bytes;
  const std::uint64_t left =
      *result_.object_bytes - std::min(*result_.object_bytes, *wanted_.begin);
  return std::min(wanted_.bytes, left);
}

}  // namespace cachebisect
#endif
