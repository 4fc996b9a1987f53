// What the Python hook is asked to observe of a script's training loop, and what it has observed
// (python/cachebisect/_timing).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/observe/batch_times.hpp"

namespace cachebisect {

/// When the hook has seen enough; 0: no limit.
struct LoopLimits {
  int epochs = 0;
  std::uint64_t max_batches = 0;
  double max_seconds = 0;
};

/// A script's loop. The hook divides the batches itself: events of a GPU tell the seconds between
/// two of them, and no point in time.
struct ScriptLoop {
  std::string name;                      ///< of the script
  std::string device;                    ///< "CPU", "NVIDIA H200"
  std::string torch;                     ///< version
  std::string step{"the script's own"};  ///< what the step computes
  std::int64_t batch_size = 0;           ///< that the loader was made with; 0: none
  int workers = 0;                       ///< 0: the training thread loads
  std::vector<BatchTimes> batches{};
  double first_batch_seconds = 0;  ///< from the start of loading to the first batch
  double call_seconds = 0;         ///< what the hook costs the training thread per batch
  LoopEnd ended_by = LoopEnd::script;
};

/// The parts that a script's batches have, in order.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::span<const TimePart> script_parts() noexcept;

/// The value of CACHEBISECT_TIME: the hook writes to `file`; then the script ends, or goes on.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string script_loop_request(const std::string& file,
                                                                       const LoopLimits& limits,
                                                                       bool continues);

/// Reads what the hook has written. Throws Error(data) naming what is wrong.
[[nodiscard]] CACHEBISECT_INTERNAL_API ScriptLoop read_script_loop(const std::string& text);

}  // namespace cachebisect
