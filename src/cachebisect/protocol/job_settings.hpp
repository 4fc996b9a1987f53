// How the owner of a training job changes its settings: in a pipeline file, or in code, by lines
// that an adapter knows. One table for remedies, what-ifs, warnings, and overrides of live arms.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

enum class SettingValues { count, flag, word };
CACHEBISECT_API std::string_view to_string(SettingValues values) noexcept;

struct JobSetting {
  using Values = SettingValues;
  /// In a pipeline file, "*" for any stage: "workers", "stages.*.pinned". What no pipeline file has
  /// stands under its own name.
  std::string path;
  /// In --what-if and in the overrides of a live arm.
  std::string name;
  std::string code;  ///< what to change; "{}" stands for the value: "DataLoader(num_workers={})"
  Values values = Values::count;
  std::int64_t min = 0;  ///< of a count
  std::int64_t max = 0;
  /// Those that are allowed; of a flag, how false and true are written in code.
  std::vector<std::string> words{};
  bool can_run = true;      ///< a live arm can run it
  bool of_workers = false;  ///< means nothing without workers
  bool per_worker = false;  ///< the value is that of each worker
};

struct CACHEBISECT_API JobSettings {
  /// Any path of its pipeline file can be set; false: only what `all` lists, in code.
  bool of_file = true;
  std::vector<JobSetting> all;
  /// What an adapter says of a remedy or a warning, by its id: a line of code, or what to do.
  std::map<std::string, std::string> advice;

  /// Null if there is none of this name.
  [[nodiscard]] const JobSetting* find(std::string_view name) const noexcept;
  /// By its path, "workers" or "stages.4.pinned"; null if there is none.
  [[nodiscard]] const JobSetting* at(std::string_view path) const;
  [[nodiscard]] std::string advice_or(const std::string& id, std::string_view otherwise) const;
};

}  // namespace cachebisect
