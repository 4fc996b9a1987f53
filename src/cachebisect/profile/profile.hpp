// Where the time of a training loop goes: by action, by stage, by operator of the step.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/statistics.hpp"
#include "cachebisect/profile/cycle.hpp"
#include "cachebisect/profile/operator_table.hpp"
#include "cachebisect/protocol/chain_description.hpp"
#include "cachebisect/replay/job/open_job.hpp"

namespace cachebisect::profile {

enum class Kind {
  simple,    ///< by action and stage
  advanced,  ///< and by operator of the step and function of the stages
  pytorch,   ///< and by LibTorch's own profiler, in the trace
};
/// Empty for any other text.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<Kind> parse_kind(std::string_view text);

struct Options {
  Kind kind = Kind::simple;
  bool trace = false;  ///< Profile::recorded is wanted
  StepProfilerOptions step_profiler{};
  /// Steps of a cycle that are not profiled, as in torch.profiler.schedule(): the ring fills and
  /// the profiler warms up. At least as many as the ring has slots are run.
  int wait = 1;
  int warmup = 4;
  /// Profiled steps of a cycle; empty: what takes half a second (advanced: at most 50), with a
  /// trace 3.
  std::optional<int> active{};
  std::optional<int> repeat{};  ///< cycles; empty: 10, advanced 3, with a trace 1
  std::stop_token stop{};
  std::function<void(const std::string&)> progress{};  ///< may be empty
};

/// Something that is done again and again.
struct Action {
  std::string name;
  std::uint64_t calls = 0;
  double seconds = 0;  ///< of all calls
};

/// Actions of the same threads. Those of the training thread add up to its time.
struct ActionGroup {
  std::string title;
  double seconds = 0;  ///< of all its threads
  std::vector<Action> actions;
};

/// By how much profiled steps are slower than others, as a share.
struct ProfilingCost {
  double share = 0;
  std::optional<Interval> interval;  ///< 95%, of the mean; empty for fewer than two pairs
  int pairs = 0;                     ///< of blocks, profiled and not, in turns
};

struct Profile {
  ChainDescription chain;
  int cycles = 0;
  std::uint64_t steps = 0;    ///< profiled
  std::uint64_t samples = 0;  ///< in those steps
  double seconds = 0;         ///< that those steps took in the training thread
  std::vector<ActionGroup> groups;
  std::optional<ProfilingCost> cost;
  std::uint64_t dropped = 0;          ///< events for which there was no room
  std::vector<Cycle> recorded;        ///< all cycles; empty unless a trace is wanted
  std::vector<CallRow> operators;     ///< of the step (advanced); empty if it tells none
  std::vector<CallRow> functions;     ///< of the stages (advanced), by samples
  std::vector<std::string> findings;  ///< in words, without full stops
  bool interrupted = false;
};

/// Throws Error(usage) naming the option that is out of range.
CACHEBISECT_INTERNAL_API void check(const Options& options);
/// The most memory that LibTorch held, in words; empty if the traces do not tell.
[[nodiscard]] std::string memory_text(const std::vector<Cycle>& cycles);

/// Runs the live loop in cycles of unprofiled and profiled steps, and as many blocks without
/// profiling, in turns. Throws Error(usage) for options out of range, Error(interrupted) on a stop
/// before the first cycle has ended, and what the loop throws.
[[nodiscard]] CACHEBISECT_INTERNAL_API Profile run(const Job& job, const Options& options);

}  // namespace cachebisect::profile
