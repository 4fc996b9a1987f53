#include "commands/allow_option.hpp"

#include <CLI/CLI.hpp>

#include "cachebisect/base/error.hpp"

namespace cachebisect::cli {

void add_allow_option(CLI::App& app, std::vector<std::string>& allowed, const std::string& doc) {
  app.add_option("--allow", allowed, "semantic: " + doc)->delimiter(',')->type_name("semantic");
}

bool allows_semantic(const std::vector<std::string>& allowed) {
  for (const std::string& what : allowed) {
    if (what != "semantic") throw Error(ErrorKind::usage, "--allow " + what + ": semantic");
  }
  return !allowed.empty();
}

}  // namespace cachebisect::cli
