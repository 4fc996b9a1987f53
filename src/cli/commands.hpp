// The subcommands: each parses its own options and returns the exit code.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace cachebisect::cli {

/// Runs a subcommand after the options were parsed; returns the exit code.
using Command = std::function<int()>;

/// These add a subcommand's options to `app` and return what runs it.
Command add_bisect(CLI::App& app);
Command add_stages(CLI::App& app);
Command add_check(CLI::App& app);
Command add_doctor(CLI::App& app);
Command add_schema(CLI::App& app);
Command add_selftest(CLI::App& app);

}  // namespace cachebisect::cli
