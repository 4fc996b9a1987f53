// "What if" as the user writes it: read, predicted by the law, and turned into an arm that can be
// run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/costs/forecast.hpp"
#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/protocol/replayer.hpp"

namespace cachebisect {

struct WhatIf {
  enum class Kind {
    workers,     ///< workers=4
    batch_size,  ///< batch_size=256
    prefetch,    ///< prefetch=4
    stage,       ///< NAME=free, NAME/2, NAME*0.5
    step,        ///< train=free, train/2: the training step
    setting,     ///< any other PATH=JSON of the pipeline file
  };
  std::string text;  ///< as written
  Kind kind = Kind::setting;
  std::int64_t count = 0;  ///< workers, batch_size, prefetch
  std::size_t stage = 0;   ///< 0-based
  double factor = 1;       ///< on the cost of stage or step; 0: free
  std::string path;        ///< setting: as for --set
  std::string value;       ///< JSON
};

/// Reads one --what-if. Throws Error(usage) that names the option, the nearest known name and the
/// forms allowed.
[[nodiscard]] CACHEBISECT_API WhatIf parse_what_if(std::string_view text,
                                                   const ChainDescription& chain);

/// The law's answer. `forecast` belongs to `report`; none: no law could be fitted.
[[nodiscard]] CACHEBISECT_API WhatIfReport predict_what_if(const WhatIf& what_if,
                                                           const Report& report,
                                                           const std::optional<Forecast>& forecast);

/// Adds a prediction for each of `options` to the report. Throws as parse_what_if().
CACHEBISECT_API void fill_what_ifs(Report& report, const std::vector<std::string>& options);

/// The arm that runs a what-if; none where no arm can: then `why` says so in a few words.
struct WhatIfArm {
  std::optional<Arm> arm;
  std::string why;
};
[[nodiscard]] CACHEBISECT_API WhatIfArm arm_of(const WhatIf& what_if,
                                               const ChainDescription& chain);

}  // namespace cachebisect
