// The settings of a training job as a Python program writes them: one table for remedies, what-ifs,
// warnings, and the overrides of live arms.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cachebisect/base/export.hpp"
#include "cachebisect/protocol/kinds.hpp"

namespace cachebisect {

struct PythonSetting {
  enum class Value { count, flag, word };
  /// In a pipeline file, "*" for any stage: "stages.*.pinned". What only Python has stands under
  /// its own name.
  std::string_view path;
  /// In --what-if and in the overrides of a live arm.
  std::string_view name;
  Value value = Value::count;
  std::string_view code;    ///< the line to change; "{}" stands for the value
  bool can_run = true;      ///< an adapter may run it as a live arm
  bool of_workers = false;  ///< means nothing without workers
  std::int64_t min = 0;     ///< of a count
  std::int64_t max = 0;
  std::array<std::string_view, 3> words{};  ///< that are allowed; empty ones do not count
};

CACHEBISECT_INTERNAL_API std::span<const PythonSetting> python_settings() noexcept;
/// Null if there is none of this name.
CACHEBISECT_INTERNAL_API const PythonSetting* find_python_setting(std::string_view name) noexcept;
/// By its path in a pipeline file, "workers" or "stages.4.pinned"; null if Python has no such
/// setting.
CACHEBISECT_INTERNAL_API const PythonSetting* python_setting_at(std::string_view path);
/// A value as a user writes it (4, True, fork) or as JSON, turned into JSON; empty if the setting
/// does not allow it.
CACHEBISECT_INTERNAL_API std::optional<std::string> python_value_json(const PythonSetting& setting,
                                                                      std::string_view text);
/// "a whole number from 0 to 1024", "True or False", "fork, spawn or forkserver".
CACHEBISECT_INTERNAL_API std::string allowed_values(const PythonSetting& setting);
/// "DataLoader(..., num_workers=4)". `json`: the value.
CACHEBISECT_INTERNAL_API std::string python_line(const PythonSetting& setting,
                                                 std::string_view json);

/// What an arm calls a setting of this path; empty if it cannot be run.
CACHEBISECT_INTERNAL_API std::optional<std::string> override_name(Dialect dialect,
                                                                  std::string_view path);

/// How the user changes a setting of this path: "--workers 4", or the line of Python.
CACHEBISECT_INTERNAL_API std::string setting_text(Dialect dialect, std::string_view path,
                                                  std::string_view json);

}  // namespace cachebisect
