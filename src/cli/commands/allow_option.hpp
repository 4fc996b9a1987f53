// --allow semantic: what changes training.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace cachebisect::cli {

/// `doc`: what it allows.
void add_allow_option(CLI::App& app, std::vector<std::string>& allowed, const std::string& doc);
/// Whether it was given. Throws Error(usage) for anything else that was.
[[nodiscard]] bool allows_semantic(const std::vector<std::string>& allowed);

}  // namespace cachebisect::cli
