// A training that a file of LightningCLI describes, in place of a command of the user's.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace cachebisect::cli {

struct LightningArguments {
  std::string config;  ///< empty: there is none
  std::string model_class;
  std::string data_class;
  std::string python = "python3";

  [[nodiscard]] bool given() const noexcept { return !config.empty(); }
};

void add_lightning_options(CLI::App& app, LightningArguments& arguments);

/// Throws Error(usage) if an option lacks the file, or if `others` (a pipeline, a command) are
/// given too.
void check_lightning(const LightningArguments& arguments, bool others);

/// The command that trains it. `hook`: as for find_hook_folder(). `more`: options of
/// python/cachebisect/_lightning/train.py.
std::vector<std::string> lightning_command(const LightningArguments& arguments,
                                           const std::string& hook,
                                           const std::vector<std::string>& more = {});

/// "cachebisect run -c FILE --model-class M --data-class D".
std::string lightning_bisect_command(const LightningArguments& arguments);

}  // namespace cachebisect::cli
