// Pipeline texts that are parsed or refused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/errors.hpp"
#include "support/fake_registry.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/pipeline/file/pipeline_file.hpp"

namespace cachebisect::test {

inline PipelineSpec parse(std::string_view text, const std::vector<SpecOverride>& overrides = {}) {
  return parse_pipeline(text, "f.json", fake_registry(),
                        {.base_folder = "/base", .cache_folder = "/cache"}, overrides);
}

inline std::string refusal(std::string_view text, const std::vector<SpecOverride>& overrides = {}) {
  return usage_error([&] { (void)parse(text, overrides); });
}

/// `text` with its first `from` replaced.
inline std::string edited(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace cachebisect::test
