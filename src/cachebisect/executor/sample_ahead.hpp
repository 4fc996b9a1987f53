// Which sample is at a position; what the source holds of the next one is fetched meanwhile.
#pragma once

#include <cstdint>

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

 private:
  const LoadProgram* program_ = nullptr;
  const SourceStage* held_ = nullptr;  ///< null: holds nothing, or is not read in this run
  std::uint64_t size_ = 0;             ///< samples of the source
  OrderReader order_;
  std::uint64_t next_position_ = 0;
  SampleIndex next_;  ///< at next_position_, if that is above 0
};

}  // namespace cachebisect
