// Whether the caches are large enough: the same boundary served from K samples and from 2K, in
// alternating blocks. A cache that fits the processor's own serves faster than training reads.
#pragma once

#include <cstdint>
#include <optional>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/random.hpp"
#include "cachebisect/bisect/record/arm_table.hpp"
#include "cachebisect/bisect/record/block_runner.hpp"
#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/bisect/search/plan.hpp"

namespace cachebisect {

/// A change of the seconds a sample from K to 2K beyond this share makes the cache too small.
inline constexpr double kCacheChange = 0.01;

/// The boundary to check: that of the named stage where the host holds it, else the last the host
/// holds before it; none where the host holds none. `stage` is 1-based.
[[nodiscard]] CACHEBISECT_API std::optional<int> boundary_to_check(const ChainDescription& chain,
                                                                   int stage);

/// Not thread safe.
class CACHEBISECT_API CacheCheck {
 public:
  /// Keeps references to all but the facts. `boundary` must be supported by the replayer.
  CacheCheck(Replayer& replayer, BlockRunner& runner, const Plan& plan, int boundary,
             const CacheFacts& facts, double confidence);

  /// True when filling 2K samples is expected to take less than a quarter of what is left.
  [[nodiscard]] bool affordable() const;
  /// Fills 2K samples; the time it takes is not measuring. False where the replayer cannot.
  bool fill(const std::stop_token& stop);
  /// One block from K samples and one from 2K. False, with none run or the round thrown away, when
  /// the answer is known, 16 rounds are done or the budget ends. Throws as BlockRunner::run does.
  bool round(int number, RandomStream& random);

  /// Change of the seconds a sample from K to 2K; nothing before a complete round.
  [[nodiscard]] Estimate change() const;
  [[nodiscard]] int rounds() const { return static_cast<int>(table_.rounds()); }
  [[nodiscard]] double fill_seconds() const noexcept { return fill_seconds_; }

 private:
  [[nodiscard]] bool known() const;

  Replayer* replayer_;
  BlockRunner* runner_;
  const Plan* plan_;
  int boundary_;
  std::uint64_t samples_;
  double expected_fill_seconds_;
  double alpha_;
  double fill_seconds_ = 0;
  ArmTable table_;
};

}  // namespace cachebisect
