// `mcp`: starts the MCP server of the Python package in place of this process.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "commands/commands.hpp"
#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/launch/hook_folder.hpp"

namespace cachebisect::cli {
namespace {

namespace fs = std::filesystem;

/// The Python of the environment that this binary belongs to, else that of PATH.
std::string python() {
  std::error_code failure;
  const fs::path own = fs::read_symlink("/proc/self/exe", failure).parent_path() / "python3";
  return fs::exists(own, failure) ? own.string() : "python3";
}

/// The package that belongs to this binary comes first, as its hook does for `run`.
void show_package_to_python() {
  try {
    const fs::path packages = fs::path(find_hook_folder("")).parent_path().parent_path();
    const char* const value = std::getenv("PYTHONPATH");
    const std::string rest = value == nullptr || *value == '\0' ? "" : ":" + std::string(value);
    ::setenv("PYTHONPATH", (packages.string() + rest).c_str(), 1);
  } catch (const Error&) {
    // Then the package is where Python finds it by itself, or nowhere.
  }
}

[[noreturn]] int serve_assistants() {
  show_package_to_python();
  std::vector<std::string> words{python(), "-m", "cachebisect._mcp"};
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(arguments.front(), arguments.data());
  throw Error(ErrorKind::usage, words.front() + " cannot be started: " + std::strerror(errno) +
                                    "; install Python and the package: pip install "
                                    "'cachebisect[mcp]'");
}

}  // namespace

Command add_mcp(CLI::App&) { return serve_assistants; }

}  // namespace cachebisect::cli
