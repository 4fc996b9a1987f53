// Parses the JSON of pipeline files. Internal to pipeline/file.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "cachebisect/base/json_text.hpp"

namespace cachebisect::spec {

inline constexpr JsonLimits kPipelineLimits{.document = "a pipeline file", .comments = true};

/// As cachebisect::read_json(); comments are allowed.
nlohmann::json read_json(std::string_view text, const std::string& origin);

}  // namespace cachebisect::spec
