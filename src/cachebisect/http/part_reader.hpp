// Reads a range of an object: large ones in parts, several at once, each again if that may help.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/http/object_address.hpp"
#include "cachebisect/http/request_counter.hpp"
#include "cachebisect/http/retry.hpp"

namespace cachebisect {

/// What tells an object from what lay there before.
struct ObjectFacts {
  std::uint64_t bytes = 0;
  std::string tag;  ///< ETag, else Last-Modified; empty: the server says neither
};

/// The first bytes of one of several objects.
struct WantedHead {
  const ObjectAddress* object = nullptr;
  std::span<std::byte> head{};         ///< filled as far as the object has bytes
  std::optional<ObjectFacts> known{};  ///< empty: there may be no such object
  std::optional<ObjectFacts> found{};  ///< is set; empty: there is none
};

/// A range of one of several objects.
struct WantedRange {
  const ObjectAddress* object = nullptr;
  const ObjectFacts* known = nullptr;
  std::uint64_t offset = 0;
  std::span<std::byte> out{};
};

struct PartLimits {
  std::size_t part_bytes = std::size_t{4} << 20U;  ///< of a request
  std::size_t in_flight = 8;                       ///< requests of one read
  int silent_seconds = 10;  ///< a server that sends nothing for so long is asked again
  RetryLimits retry{};
};

/// Keeps its connections. Not thread safe: one per thread.
class CACHEBISECT_INTERNAL_API PartReader {
 public:
  /// `counter` must outlive it. Throws Error(usage) that says what this build or machine lacks.
  PartReader(RequestCounter& counter, std::stop_token stop, const PartLimits& limits = {});
  ~PartReader();
  PartReader(const PartReader&) = delete;
  PartReader& operator=(const PartReader&) = delete;

  /// Asks for the first byte. Throws Error(data) that names the object as `shown` if it cannot be
  /// read by ranges, Error(interrupted) within a tenth of a second of a stop.
  [[nodiscard]] ObjectFacts look_up(const ObjectAddress& object);
  /// Looks objects up, several at once, and reads their first bytes by the same requests. A server
  /// that has none of a name (404) is not refused. Throws as look_up() and read() do.
  void find(std::span<WantedHead> wanted);
  /// Fills `out` with all that the address gives, and returns how many bytes that is. Throws as
  /// look_up() does, and if it is more than `out` holds.
  [[nodiscard]] std::size_t read_whole(const ObjectAddress& object, std::span<std::byte> out);
  /// Fills `first`, then `second`, from `offset`. Throws as look_up() does, and if the object is
  /// not `known` any more.
  void read(const ObjectAddress& object, const ObjectFacts& known, std::uint64_t offset,
            std::span<std::byte> first, std::span<std::byte> second);
  /// Fills each range by a request of its own, several at once. Throws as the above does.
  void read(std::span<const WantedRange> wanted);

 private:
  class Lines;
  std::unique_ptr<Lines> lines_;
};

}  // namespace cachebisect
