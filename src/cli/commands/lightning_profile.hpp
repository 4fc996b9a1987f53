// `profile -c FILE`: Lightning's own profilers on the training that a file of LightningCLI
// describes.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "commands/lightning_options.hpp"

#include "cachebisect/launch/command_with_folder.hpp"

namespace cachebisect::cli {

struct LightningProfileArguments {
  LightningArguments training;
  std::optional<int> epochs;
  std::optional<std::uint64_t> max_batches;
  std::string precision;
  std::string save_dir;

  /// An option that means something with a file alone.
  [[nodiscard]] bool has_own_options() const noexcept {
    return epochs || max_batches || !precision.empty() || !save_dir.empty();
  }
};

void add_lightning_profile_options(CLI::App& app, LightningProfileArguments& arguments);

/// Trains in `training` once per profiler: `kinds`, all three if it is empty. Returns the exit
/// code. Throws Error(interrupted) on `stop`.
int profile_lightning(CommandWithFolder& training, const LightningProfileArguments& arguments,
                      const std::vector<std::string>& kinds, const std::string& device,
                      const std::string& hook, const std::stop_token& stop);

}  // namespace cachebisect::cli
