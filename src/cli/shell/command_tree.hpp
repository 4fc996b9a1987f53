// The commands and their options as plain data, read off the parser: what --help, the man page and
// the completions of shells have in common.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace cachebisect::cli {

/// What a shell can complete a value with.
enum class Completes { nothing, words, file, folder, pipeline, stage, command };

struct OptionEntry {
  std::vector<std::string> names;  ///< "--budget"; empty: positional
  std::string value;               ///< "SECONDS"; of a positional its name; empty: a flag
  std::string help;
  bool repeatable = false;
  Completes completes = Completes::nothing;
  std::vector<std::string> words;  ///< if it completes words
};

struct CommandEntry {
  std::string name;
  std::string help;
  std::string footer;
  std::vector<OptionEntry> options;
};

struct CommandTree {
  CommandEntry root;  ///< "cachebisect", with the options of the default command
  std::vector<CommandEntry> commands;
};

/// The commands of the parser, with all its subcommands but hidden ones.
[[nodiscard]] CommandTree command_tree(const CLI::App& app);

}  // namespace cachebisect::cli
