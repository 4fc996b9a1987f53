// What is written about the commands for people and shells, all of it from the command tree.
#pragma once

#include <string>

#include "shell/command_tree.hpp"

namespace cachebisect::cli {

/// The man page, in the man(7) macros.
[[nodiscard]] std::string man_page(const CommandTree& tree);

/// Scripts to be sourced by the shells, or put into their folders of completions. They call the
/// command for the names of pipelines and stages.
[[nodiscard]] std::string bash_completion(const CommandTree& tree);
[[nodiscard]] std::string zsh_completion(const CommandTree& tree);
[[nodiscard]] std::string fish_completion(const CommandTree& tree);

}  // namespace cachebisect::cli
