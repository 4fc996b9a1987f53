#include "commands/lightning_profile.hpp"

#include <filesystem>

#include <CLI/CLI.hpp>

#include "cachebisect/base/error.hpp"

namespace cachebisect::cli {
namespace {

/// output/profiler/NAME/profiler_logs, NAME as the file's.
std::string default_folder(const std::string& config) {
  const auto name = std::filesystem::path(config).stem();
  return (std::filesystem::path("output/profiler") / name / "profiler_logs").string();
}

std::vector<std::string> options_of(const LightningProfileArguments& a,
                                    const std::vector<std::string>& kinds,
                                    const std::string& device) {
  std::vector<std::string> words{"--epochs", std::to_string(a.epochs.value_or(1))};
  if (a.max_batches) {
    words.insert(words.end(), {"--max-batches", std::to_string(*a.max_batches)});
  }
  if (!a.precision.empty()) words.insert(words.end(), {"--precision", a.precision});
  if (!device.empty()) words.insert(words.end(), {"--device", device});
  for (const std::string& kind : kinds) words.insert(words.end(), {"--profiler", kind});
  const std::string folder = a.save_dir.empty() ? default_folder(a.training.config) : a.save_dir;
  words.insert(words.end(), {"--logs", folder, "--bisect", lightning_bisect_command(a.training)});
  return words;
}

}  // namespace

void add_lightning_profile_options(CLI::App& app, LightningProfileArguments& a) {
  add_lightning_options(app, a.training);
  app.add_option("--epochs", a.epochs, "with -c: how often the data set is read (1)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  app.add_option("--max-batches", a.max_batches, "with -c: of each epoch (all)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  app.add_option("--precision", a.precision, "with -c: Lightning's, in place of the file's own")
      ->type_name("PRECISION");
  app.add_option("--save-dir", a.save_dir,
                 "with -c: folder of the files (output/profiler/NAME/profiler_logs)")
      ->type_name("DIR");
}

int profile_lightning(CommandWithFolder& training, const LightningProfileArguments& a,
                      const std::vector<std::string>& kinds, const std::string& device,
                      const std::string& hook, const std::stop_token& stop) {
  static const std::vector<std::string> kAll{"simple", "advanced", "pytorch"};
  const auto more = options_of(a, kinds.empty() ? kAll : kinds, device);
  const auto status = training.run({.words = lightning_command(a.training, hook, more)}, stop);
  if (stop.stop_requested()) throw Error(ErrorKind::interrupted, "stopped");
  if (!status || !status->ok()) {
    if (status && status->exit_code == exit_code(ErrorKind::usage)) return status->exit_code;
    throw Error(ErrorKind::data, "the training ended " +
                                     (status ? status->text() : std::string("by a signal")) +
                                     "; see its own messages");
  }
  return 0;
}

}  // namespace cachebisect::cli
