#ifdef CACHEBISECT_WITH_HTTP_CLIENT
#include "cachebisect/http/transfer_lines.hpp"

#include <algorithm>
#include <utility>

#include "cachebisect/base/error.hpp"

namespace cachebisect {

TransferLines::TransferLines(std::size_t lines, HttpProgress progress)
    : curl_(curl_functions()),
      progress_(std::move(progress)),
      multi_(curl_->multi_init()),
      lines_(lines) {
  if (multi_ == nullptr) throw Error(ErrorKind::usage, "libcurl has no memory for a connection");
}

TransferLines::~TransferLines() {
  drop();
  for (const Line& line : lines_) {
    if (line.handle != nullptr) curl_->easy_cleanup(line.handle);
  }
  curl_->multi_cleanup(multi_);
}

void TransferLines::start(const HttpRead& wanted, int silent_seconds, Ended ended) {
  const auto line = std::ranges::find_if(
      lines_, [](const Line& candidate) { return !candidate.transfer.has_value(); });
  if (line == lines_.end()) throw Error(ErrorKind::internal, "no room for another request");
  if (line->handle == nullptr) line->handle = curl_->easy_init();
  if (line->handle == nullptr) throw Error(ErrorKind::usage, "libcurl has no memory for a request");
  line->transfer.emplace(*curl_, line->handle, wanted, progress_);
  line->ended = std::move(ended);
  try {
    line->transfer->prepare(silent_seconds);
  } catch (...) {
    line->transfer.reset();
    throw;
  }
  if (curl_->multi_add_handle(multi_, line->handle) != CURLM_OK) {
    line->transfer.reset();
    throw Error(ErrorKind::usage, "libcurl refuses a request");
  }
  ++running_;
}

void TransferLines::run(double seconds) {
  constexpr double kMillisecondsPerSecond = 1000;
  int active = 0;
  curl_->multi_perform(multi_, &active);
  const std::size_t before = running_;
  int left = 0;
  while (CURLMsg* const message = curl_->multi_info_read(multi_, &left)) {
    if (message->msg == CURLMSG_DONE) finish(message->easy_handle, message->data.result);
  }
  if (running_ != before) return;
  curl_->multi_poll(multi_, nullptr, 0, static_cast<int>(seconds * kMillisecondsPerSecond),
                    nullptr);
}

void TransferLines::finish(CURL* handle, CURLcode code) {
  const auto line = std::ranges::find(lines_, handle, &Line::handle);
  const HttpResult result = line->transfer->finish(code);
  curl_->multi_remove_handle(multi_, handle);
  line->transfer.reset();
  --running_;
  std::exchange(line->ended, {})(result);
}

void TransferLines::drop() noexcept {
  for (Line& line : lines_) {
    if (!line.transfer) continue;
    curl_->multi_remove_handle(multi_, line.handle);
    line.transfer.reset();
    line.ended = {};
  }
  running_ = 0;
}

}  // namespace cachebisect
#endif
