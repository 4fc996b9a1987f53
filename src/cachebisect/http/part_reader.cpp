#include "cachebisect/http/part_reader.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/random.hpp"
#ifdef CACHEBISECT_WITH_HTTP_CLIENT
#include "cachebisect/http/read_refusal.hpp"
#include "cachebisect/http/transfer_lines.hpp"
#endif

namespace cachebisect {

#ifdef CACHEBISECT_WITH_HTTP_CLIENT

namespace {

/// How late a stop is seen.
constexpr double kMostPollSeconds = 0.05;
constexpr long kAbsentStatus = 404;

/// The bytes of `first`, then `second`, from `begin` on.
std::array<std::span<std::byte>, 2> places_of(std::span<std::byte> first,
                                              std::span<std::byte> second, std::size_t begin,
                                              std::size_t bytes) {
  const std::size_t in_first = std::min(begin, first.size());
  const auto head = first.subspan(in_first, std::min(bytes, first.size() - in_first));
  const auto tail = second.subspan(begin - in_first, bytes - head.size());
  return {head, tail};
}

}  // namespace

class PartReader::Lines {
 public:
  Lines(RequestCounter& counter, std::stop_token stop, const PartLimits& limits)
      : counter_(counter),
        stop_(std::move(stop)),
        limits_(limits),
        random_({.seed = static_cast<std::uint64_t>(monotonic_seconds() * 1e9),
                 .stage = hash_name("pauses between tries")}),
        lines_(limits.in_flight, [this](std::uint64_t) { return stop_.stop_requested(); }) {}

  ObjectFacts look_up(const ObjectAddress& object) {
    parts_.clear();
    add_part(object, 0, 1, {});
    read_all();
    return facts_of(object, parts_.front().result);
  }

  void find(std::span<WantedHead> wanted) {
    parts_.clear();
    for (const WantedHead& one : wanted) {
      add_part(*one.object, 0, std::max<std::size_t>(one.head.size(), 1), {one.head, {}});
      parts_.back().wanted.may_end = true;
      parts_.back().may_be_absent = !one.known;
    }
    read_all();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const HttpResult& result = parts_[i].result;
      if (wanted[i].known) require_same(*wanted[i].object, *wanted[i].known, result);
      if (result.status != kAbsentStatus) wanted[i].found = facts_of(*wanted[i].object, result);
    }
  }

  std::size_t read_whole(const ObjectAddress& object, std::span<std::byte> out) {
    parts_.clear();
    add_part(object, std::nullopt, out.size(), {out, {}});
    parts_.front().wanted.may_end = true;
    read_all();
    return parts_.front().result.bytes;
  }

  void read(const ObjectAddress& object, const ObjectFacts& known, std::uint64_t offset,
            std::span<std::byte> first, std::span<std::byte> second) {
    parts_.clear();
    const std::size_t bytes = first.size() + second.size();
    const std::size_t count = (bytes + limits_.part_bytes - 1) / limits_.part_bytes;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t begin = bytes * i / count;
      const std::size_t here = bytes * (i + 1) / count - begin;
      add_part(object, offset + begin, here, places_of(first, second, begin, here));
    }
    read_all();
    for (const Part& part : parts_) require_same(object, known, part.result);
  }

  void read(std::span<const WantedRange> wanted) {
    parts_.clear();
    for (const WantedRange& one : wanted) {
      add_part(*one.object, one.offset, one.out.size(), {one.out, {}});
    }
    read_all();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      require_same(*wanted[i].object, *wanted[i].known, parts_[i].result);
    }
  }

 private:
  struct Part {
    const ObjectAddress* object;
    HttpRead wanted;
    HttpResult result{};
    int tries = 0;
    double first_began = 0;
    double began = 0;  ///< its last try
    double due = 0;    ///< its next try
    bool may_be_absent = false;
    enum class State { waiting, running, done } state = State::waiting;
  };

  void add_part(const ObjectAddress& object, std::optional<std::uint64_t> begin,
                std::uint64_t bytes, std::array<std::span<std::byte>, 2> into) {
    parts_.push_back({.object = &object,
                      .wanted = {.url = object.url,
                                 .begin = begin,
                                 .bytes = bytes,
                                 .shown = object.shown,
                                 .into = into,
                                 .access = object.access.get()}});
  }

  void read_all() {
    const double began = monotonic_seconds();
    most_running_ = 0;
    left_ = parts_.size();
    try {
      while (left_ > 0) {
        if (stop_.stop_requested()) throw Error(ErrorKind::interrupted, "stopped");
        lines_.run(start_due(monotonic_seconds()));
      }
    } catch (...) {
      lines_.drop();
      throw;
    }
    counter_.add_read(monotonic_seconds() - began, most_running_);
  }

  /// Returns the seconds until the next part is due, at most kMostPollSeconds.
  double start_due(double now) {
    double wait = kMostPollSeconds;
    for (Part& part : parts_) {
      if (part.state != Part::State::waiting) continue;
      if (part.due > now) {
        wait = std::min(wait, part.due - now);
      } else if (lines_.has_room()) {
        start(part, now);
      }
    }
    most_running_ = std::max(most_running_, lines_.running());
    return wait;
  }

  void start(Part& part, double now) {
    if (part.tries++ == 0) part.first_began = now;
    part.began = now;
    part.state = Part::State::running;
    lines_.start(part.wanted, limits_.silent_seconds,
                 [&](const HttpResult& result) { end(part, result); });
  }

  void end(Part& part, HttpResult result) {
    const double now = monotonic_seconds();
    if (part.may_be_absent && result.status == kAbsentStatus) {
      result.outcome = HttpResult::Outcome::whole;
    }
    counter_.add(result, part.tries > 1, now - part.began);
    if (result.outcome == HttpResult::Outcome::cut) throw Error(ErrorKind::interrupted, "stopped");
    part.result = result;
    if (result.outcome == HttpResult::Outcome::whole) {
      part.state = Part::State::done;
      --left_;
      return;
    }
    const Tried tried{.tries = part.tries,
                      .seconds = now - part.first_began,
                      .asked_seconds = result.retry_seconds};
    const auto pause =
        result.may_pass ? retry_pause(limits_.retry, tried, random_.uniform()) : std::nullopt;
    if (!pause) {
      throw Error(ErrorKind::data, read_refusal(*part.object, part.wanted, result, tried));
    }
    part.due = now + *pause;
    part.state = Part::State::waiting;
  }

  RequestCounter& counter_;
  std::stop_token stop_;
  PartLimits limits_;
  RandomStream random_;
  TransferLines lines_;
  std::vector<Part> parts_;
  std::size_t left_ = 0;
  std::size_t most_running_ = 0;
};

#else

class PartReader::Lines {
 public:
  Lines(RequestCounter& /*counter*/, const std::stop_token& /*stop*/,
        const PartLimits& /*limits*/) {
    throw Error(ErrorKind::usage,
                "this build reads no objects of servers: install libcurl with its headers "
                "(Debian's libcurl4-openssl-dev) and build again");
  }
  static ObjectFacts look_up(const ObjectAddress& /*object*/) { return {}; }
  static void find(std::span<WantedHead> /*wanted*/) {}
  static std::size_t read_whole(const ObjectAddress& /*object*/, std::span<std::byte> /*out*/) {
    return 0;
  }
  static void read(const ObjectAddress& /*object*/, const ObjectFacts& /*known*/,
                   std::uint64_t /*offset*/, std::span<std::byte> /*first*/,
                   std::span<std::byte> /*second*/) {}
  static void read(std::span<const WantedRange> /*wanted*/) {}
};

#endif

PartReader::PartReader(RequestCounter& counter, std::stop_token stop, const PartLimits& limits)
    : lines_(std::make_unique<Lines>(counter, std::move(stop), limits)) {}
PartReader::~PartReader() = default;

ObjectFacts PartReader::look_up(const ObjectAddress& object) { return lines_->look_up(object); }

void PartReader::find(std::span<WantedHead> wanted) { lines_->find(wanted); }

std::size_t PartReader::read_whole(const ObjectAddress& object, std::span<std::byte> out) {
  return lines_->read_whole(object, out);
}

void PartReader::read(const ObjectAddress& object, const ObjectFacts& known, std::uint64_t offset,
                      std::span<std::byte> first, std::span<std::byte> second) {
  lines_->read(object, known, offset, first, second);
}

void PartReader::read(std::span<const WantedRange> wanted) { lines_->read(wanted); }

}  // namespace cachebisect
