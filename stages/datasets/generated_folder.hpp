// Data sets that are generated when they are missing: made whole in one step, and labelled.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cachebisect/pipeline/params.hpp"

namespace cachebisect::stages {

/// Name of the file that marks a folder as generated.
inline constexpr const char* kGeneratedMarker = "GENERATED";

/// What is to be made.
struct GeneratedSet {
  std::string kind;           ///< what the marker calls it: "mnist-like"
  std::uint64_t samples = 0;  ///< of the training split
  std::uint64_t bytes = 0;    ///< about, for the message when there is no room
  std::function<void(const std::string& folder)> write;  ///< fills an empty folder
};

/// Makes `folder` unless it is there by now: written beside it and renamed, so that it is there
/// whole or not at all, and once only when several processes ask at the same time.
/// Throws Error(data) that names the folder and the remedy when it cannot be made (no room, read
/// only, in the way).
void generate_folder(const std::string& folder, const GeneratedSet& set);

/// Whether `path` (a folder, or a file in one) carries the marker.
bool is_generated(const std::string& path);

/// Whether there is nothing at `folder`, or an empty folder.
bool is_absent(const std::string& folder);

/// The parameters `if_missing` and `generated_samples` of sources that can generate their data.
ParamSpec if_missing_param();
ParamSpec generated_samples_param(std::int64_t default_value);
/// Whether `if_missing` says "generate".
bool generate_if_missing(const Params& params);

}  // namespace cachebisect::stages
