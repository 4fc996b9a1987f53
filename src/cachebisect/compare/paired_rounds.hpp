// Two live arms in turns: rounds of two neighbouring blocks in random order.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/evidence/arm_ratio.hpp"
#include "cachebisect/bisect/record/bisect_options.hpp"
#include "cachebisect/bisect/record/block_record.hpp"
#include "cachebisect/bisect/record/round_table.hpp"
#include "cachebisect/protocol/replayer.hpp"

namespace cachebisect {

/// An arm and the job behind it, which sets the lengths of its blocks.
struct PairedArm {
  Arm arm;
  ChainDescription chain;
};

/// True once the change from a to b is known well enough.
using PairedRule = std::function<bool(const LogRatio& rate_ratio)>;

struct PairedOptions {
  double budget_seconds = 120;
  double confidence = 0.99;
  std::uint64_t seed = 1;
  PairedRule enough{};  ///< empty: use the whole budget
  std::function<void(const Progress&)> progress{};
  std::stop_token stop{};  ///< on a stop, the rounds so far are returned
};

struct PairedRounds {
  RoundTable table{std::vector<Arm>{}};  ///< a, then b
  std::vector<BlockRecord> records;      ///< all blocks that were run, those of the pilot too
  double seconds = 0;                    ///< of the budget
  bool interrupted = false;
};

/// log(rate of b / rate of a), from the pairs: their median, with the interval of a
/// PairedSequence, which holds at every check. Needs at least one round.
[[nodiscard]] CACHEBISECT_INTERNAL_API LogRatio paired_rate_ratio(const RoundTable& rounds,
                                                                  double confidence);

/// Blocks are as short as those of bisect(), 40 ms: the shorter the time between two neighbours,
/// the less the machine changes in it. Throws Error(usage) for options out of range, and what the
/// replayer throws before the first complete round; later errors too.
[[nodiscard]] CACHEBISECT_INTERNAL_API PairedRounds measure_pairs(Replayer& replayer,
                                                                  const PairedArm& a,
                                                                  const PairedArm& b,
                                                                  const PairedOptions& options);

}  // namespace cachebisect
