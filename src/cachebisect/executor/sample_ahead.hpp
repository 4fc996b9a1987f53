// Which sample is at a position; what is in memory of the next one is fetched meanwhile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cachebisect/executor/load_program.hpp"

namespace cachebisect {

/// Of one worker. Used by one thread at a time.
class SampleAhead {
 public:
  /// Keeps references to both.
  void begin_run(const LoadProgram& program, const SourceStage& source);
  /// The sample at `position`, whose cursor is `at`. Memory of the next sample is brought into the
  /// processor's caches: from random places, most of the time of a small sample is waiting for it.
  [[nodiscard]] SampleIndex index(const LoadCursor& at, std::uint64_t position);
  /// Fetches some more of it, as much as the processor can wait for while it works. To be called a
  /// few times per sample: all at once, the work after it would wait too.
  void fetch_some() noexcept {
    const std::byte* const end =
        fetched_ + std::min(kAtOnce * kLine, static_cast<std::size_t>(fetch_end_ - fetched_));
    for (; fetched_ < end; fetched_ += kLine) __builtin_prefetch(fetched_);
  }

 private:
  static constexpr std::size_t kLine = 64;  ///< bytes
  /// Lines. Processors wait for 10 to 16 at once.
  static constexpr std::size_t kAtOnce = 10;

  /// Begins with the bytes of another sample.
  void fetch(std::span<const std::byte> bytes) noexcept;
  /// In the first cache that has it, or else in the source.
  [[nodiscard]] std::span<const std::byte> held(SampleIndex index) const;

  const LoadProgram* program_ = nullptr;
  std::vector<const CacheStage*> caches_;  ///< in the order in which they are asked
  const SourceStage* source_ = nullptr;    ///< null: holds nothing, or is not read in this run
  std::uint64_t size_ = 0;                 ///< samples of the source
  OrderReader order_;
  std::uint64_t next_position_ = 0;
  SampleIndex next_;                      ///< at next_position_, if that is above 0
  const std::byte* fetched_ = nullptr;    ///< the first line that is not fetched yet
  const std::byte* fetch_end_ = nullptr;  ///< of what is to be fetched
};

}  // namespace cachebisect
