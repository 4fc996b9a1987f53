// The values of a job's settings as users write them, and what users are told to change.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cachebisect/base/export.hpp"
#include "cachebisect/protocol/job_settings.hpp"

namespace cachebisect {

/// A value as a user writes it (4, true, fork) or as JSON, turned into JSON; empty if the setting
/// does not allow it.
CACHEBISECT_INTERNAL_API std::optional<std::string> value_json(const JobSetting& setting,
                                                               std::string_view text);
/// "a whole number from 0 to 1024", "True or False", "fork or spawn".
CACHEBISECT_INTERNAL_API std::string allowed_values(const JobSetting& setting);
/// "DataLoader(..., num_workers=4)". `json`: the value.
CACHEBISECT_INTERNAL_API std::string code_line(const JobSetting& setting, std::string_view json);

/// What an arm calls a setting of this path; empty if it cannot be run.
CACHEBISECT_INTERNAL_API std::optional<std::string> override_name(const JobSettings& settings,
                                                                  std::string_view path);
/// How the user changes a setting of this path: "--workers 4", or the line of code; where the
/// adapter knows none, in words.
CACHEBISECT_INTERNAL_API std::string setting_text(const JobSettings& settings,
                                                  std::string_view path, std::string_view json);

}  // namespace cachebisect
