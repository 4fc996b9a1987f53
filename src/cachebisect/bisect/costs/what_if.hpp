// "What if" as the user writes it: parsed, predicted by the cost model, and turned into an arm that
// can be run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/costs/forecast.hpp"
#include "cachebisect/bisect/costs/what_if_result.hpp"
#include "cachebisect/protocol/arm.hpp"
#include "cachebisect/protocol/chain_description.hpp"
#include "cachebisect/protocol/storage_counts.hpp"

namespace cachebisect {

/// The folder in which what is read is kept; for jobs in code alone.
inline constexpr std::string_view kReadCache = "read_cache";

struct WhatIf {
  enum class Kind {
    workers,     ///< workers=4
    batch_size,  ///< batch_size=256
    prefetch,    ///< prefetch=4
    stage,       ///< NAME=free, NAME/2, NAME*0.5
    step,        ///< train=free, train/2: the training step
    latency,     ///< NAME.latency/2: what the requests of a stage that reads take
    read_cache,  ///< NAME.cache=DIR: what a stage that reads gives comes from a local disk
    setting,     ///< any other PATH=JSON of the pipeline file
  };
  std::string text;  ///< as written
  Kind kind = Kind::setting;
  std::int64_t count = 0;  ///< workers, batch_size, prefetch
  std::size_t stage = 0;   ///< 0-based
  double factor = 1;       ///< on the cost of stage, step or requests; 0: free
  std::string path;        ///< setting: as for --set
  std::string value;       ///< JSON; read_cache: the folder
};

/// Reads one --what-if. Throws Error(usage) that names the option, the nearest known name and the
/// forms allowed.
[[nodiscard]] CACHEBISECT_INTERNAL_API WhatIf parse_what_if(std::string_view text,
                                                            const ChainDescription& chain);

/// The prediction. `forecast`: of the same run; empty if no cost model could be fitted. `storage`:
/// what reading asked for, if that was counted.
[[nodiscard]] CACHEBISECT_INTERNAL_API WhatIfResult predict_what_if(
    const WhatIf& what_if, const ChainDescription& chain, const std::optional<Forecast>& forecast,
    const std::optional<StorageCounts>& storage = {});

/// How a what-if that can be run changes what is trained, in words; empty if it does not.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string changes_training(const WhatIf& what_if,
                                                                    const ChainDescription& chain);

/// The arm that runs a what-if; if there is none, `why` says so in a few words.
struct WhatIfArm {
  std::optional<Arm> arm;
  std::string why;
};
[[nodiscard]] CACHEBISECT_INTERNAL_API WhatIfArm arm_of(const WhatIf& what_if,
                                                        const ChainDescription& chain);

}  // namespace cachebisect
