// The machines that a plan compares.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect::plan {

/// Speeds are relative to the machine that was measured.
struct Machine {
  std::string name;
  double cores = 1;            ///< physical ones that the job may use, of the whole machine
  double auxiliary_cores = 0;  ///< of other machines that make samples for this one
  int accelerators = 1;        ///< that train together, each with an equal part of the cores
  double core_speed = 1;
  double accelerator_speed = 1;
  std::optional<double> storage_bytes_per_second;  ///< that reading reaches; empty: enough
  std::optional<double> price_per_hour;

  /// For one of its accelerators.
  [[nodiscard]] double cores_each() const noexcept {
    return (cores + auxiliary_cores) / accelerators;
  }
};

/// A list of machines, or an object with such a list as "machines". `origin` names the text in
/// messages. Throws Error(usage) naming the place of what is wrong.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<Machine> parse_machines(
    std::string_view text, const std::string& origin);
/// Those of a file. Throws as parse_machines(), and Error(usage) if it cannot be read.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::vector<Machine> load_machines(const std::string& file);

}  // namespace cachebisect::plan
