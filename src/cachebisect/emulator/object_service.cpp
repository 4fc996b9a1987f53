#include "cachebisect/emulator/object_service.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "cachebisect/emulator/byte_range.hpp"

namespace cachebisect {
namespace {

constexpr int kOk = 200;
constexpr int kPartialContent = 206;
constexpr int kNotFound = 404;
constexpr int kNotAllowed = 405;
constexpr int kOutsideRange = 416;
constexpr int kSlowDown = 503;

constexpr double kPieceSeconds = 1e-3;
constexpr double kLeastPiece = 16384;
constexpr double kMostPiece = 1 << 18;

std::size_t bytes_of_piece(const StorageSettings& settings) {
  if (settings.bytes_per_second <= 0) return static_cast<std::size_t>(kMostPiece);
  return static_cast<std::size_t>(
      std::clamp(kPieceSeconds * settings.bytes_per_second, kLeastPiece, kMostPiece));
}

ObjectReply text_reply(int status, const std::string& text) {
  ObjectReply reply;
  reply.status = status;
  reply.text = text;
  return reply;
}

ObjectReply refusal_for(double seconds) {
  ObjectReply reply = text_reply(kSlowDown, "Slow down: too many requests per second.\n");
  reply.headers.emplace_back("Retry-After",
                             std::to_string(static_cast<int>(std::ceil(std::max(seconds, 1.0)))));
  return reply;
}

/// "bytes 0-4095/100000"
std::string content_range(const ByteRange& range, std::uint64_t size) {
  const std::string of = "/" + std::to_string(size);
  if (range.kind == ByteRange::Kind::outside) return "bytes *" + of;
  return "bytes " + std::to_string(range.begin) + "-" +
         std::to_string(range.begin + range.bytes - 1) + of;
}

}  // namespace

ObjectService::ObjectService(const std::string& folder, const StorageSettings& settings)
    : folder_(folder), piece_bytes_(bytes_of_piece(settings)), model_(settings) {}

ObjectReply ObjectService::answer(const ObjectRequest& request, double now) {
  std::shared_ptr<void> in_flight = begin_request();
  std::optional<StorageAnswer> admitted;
  double wait = 0;
  {
    const std::scoped_lock lock(mutex_);
    admitted = model_.admit(now, 0);
    if (!admitted) {
      ++totals_.throttled;
      wait = model_.seconds_until_admitted(now);
    }
  }
  ObjectReply reply = admitted ? object(request) : refusal_for(wait);
  reply.due = admitted ? admitted->first_byte : now;
  reply.in_flight = std::move(in_flight);
  return reply;
}

double ObjectService::send_piece(double ready, std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  totals_.bytes += bytes;
  return model_.transfer(ready, bytes);
}

EmulatorTotals ObjectService::totals() const {
  const std::scoped_lock lock(mutex_);
  return totals_;
}

std::shared_ptr<void> ObjectService::begin_request() {
  const auto end = [](ObjectService* service) {
    const std::scoped_lock lock(service->mutex_);
    --service->in_flight_;
  };
  const std::scoped_lock lock(mutex_);
  ++totals_.requests;
  totals_.most_in_flight = std::max(totals_.most_in_flight, ++in_flight_);
  return {this, end};
}

ObjectReply ObjectService::object(const ObjectRequest& request) const {
  if (request.method != "GET" && request.method != "HEAD") {
    ObjectReply reply = text_reply(kNotAllowed, "Only GET and HEAD are answered.\n");
    reply.headers.emplace_back("Allow", "GET, HEAD");
    reply.last_of_connection = true;  // Its body was not read.
    return reply;
  }
  std::optional<ServedFile> file = folder_.open(request.path);
  if (!file) return text_reply(kNotFound, "There is no such object.\n");
  const bool changed = !request.if_range.empty() && request.if_range != file->etag &&
                       request.if_range != file->modified;
  const ByteRange range = parse_range(changed ? "" : request.range, file->bytes);
  ObjectReply reply;
  if (range.kind == ByteRange::Kind::outside) {
    reply = text_reply(kOutsideRange, "No byte of the object is in this range.\n");
  } else {
    reply.status = range.kind == ByteRange::Kind::part ? kPartialContent : kOk;
    reply.begin = range.begin;
    reply.bytes = range.bytes;
  }
  if (range.kind != ByteRange::Kind::whole) {
    reply.headers.emplace_back("Content-Range", content_range(range, file->bytes));
  }
  reply.headers.emplace_back("Accept-Ranges", "bytes");
  reply.headers.emplace_back("ETag", file->etag);
  reply.headers.emplace_back("Last-Modified", file->modified);
  if (reply.text.empty()) reply.file = std::make_shared<const ServedFile>(std::move(*file));
  return reply;
}

}  // namespace cachebisect
