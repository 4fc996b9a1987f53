// What a measured job would reach on other machines, by the costs of its stages.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/estimate.hpp"
#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/report/report.hpp"
#include "cachebisect/plan/machines.hpp"

namespace cachebisect::plan {

/// Samples/s of the whole machine.
struct Row {
  Machine machine;
  int workers = 0;     ///< for each accelerator: the fewest that reach what is predicted
  Estimate rate;       ///< predicted
  double ceiling = 0;  ///< by the training step alone
  std::string limit;   ///< what limits, in words
  double cores_for_ceiling = 0;
  std::optional<double> storage_for_ceiling;  ///< bytes/s; empty: bytes of a sample are not known
  std::optional<double> price_per_million;    ///< of samples; empty: no price

  [[nodiscard]] double share() const noexcept {
    return ceiling > 0 ? rate.value.value_or(0) / ceiling : 0;
  }
};

struct Plan {
  std::string name;  ///< of the job
  double cores = 0;  ///< of the machine that was measured
  Estimate live;     ///< there, measured
  std::vector<Row> rows;
  std::optional<std::size_t> cheapest;  ///< per sample, of those with a price
  std::optional<std::size_t> smallest;  ///< fewest cores that reach kEnough of the ceiling
  bool trains_on_host = false;
};

inline constexpr double kEnough = 0.95;  ///< of the ceiling

/// Throws Error(usage) if the report has no recording, or its costs cannot be told.
[[nodiscard]] CACHEBISECT_INTERNAL_API Plan make_plan(const Report& report,
                                                      const std::vector<Machine>& machines);

}  // namespace cachebisect::plan
