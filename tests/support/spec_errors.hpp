// What a pipeline text is refused with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/fake_registry.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/pipeline/file/pipeline_file.hpp"

namespace cachebisect::testing {

inline PipelineSpec parse(std::string_view text, const std::vector<SpecOverride>& overrides = {}) {
  return parse_pipeline(text, "f.json", fake_registry(),
                        {.base_folder = "/base", .cache_folder = "/cache"}, overrides);
}

/// The message of the usage error that `action` throws; "" when it throws nothing.
template <class Action>
std::string usage_error(Action action) {
  try {
    action();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    return error.what();
  }
  return "";
}

inline std::string refusal(std::string_view text, const std::vector<SpecOverride>& overrides = {}) {
  return usage_error([&] { (void)parse(text, overrides); });
}

/// `text` with its one `from` replaced.
inline std::string edited(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

inline bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace cachebisect::testing
