// Generates missing data sets: atomically, and marked as generated.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cachebisect/pipeline/params.hpp"

namespace cachebisect::stages {

/// Name of the file that marks a folder as generated.
inline constexpr const char* kGeneratedMarker = "GENERATED";

/// The data set to generate.
struct GeneratedSet {
  std::string kind;           ///< its name in the marker file: "mnist-like"
  std::uint64_t samples = 0;  ///< in the training split
  std::uint64_t bytes = 0;    ///< approximate size, for the message when there is no room
  std::function<void(const std::string& folder)> write;  ///< fills an empty folder
};

/// Generates `folder` unless it exists by now. It is written next to its place and renamed, so that
/// it is complete or absent, and generated once even if several processes ask at the same time.
/// Throws Error(data) that names the folder and the remedy when that fails (no room, read only, a
/// file of that name).
void generate_folder(const std::string& folder, const GeneratedSet& set);

/// Whether `path` (a folder, or a file in one) is marked as generated.
bool is_generated(const std::string& path);

/// Whether `folder` does not exist or is empty.
bool is_absent(const std::string& folder);

/// The parameters `if_missing` and `generated_samples` of sources that can generate their data.
ParamSpec if_missing_param();
ParamSpec generated_samples_param(std::int64_t default_value);
/// Whether `if_missing` says "generate".
bool generate_if_missing(const Params& params);

}  // namespace cachebisect::stages
