// The subcommands. Each declares its own options.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace cachebisect::cli {

/// Runs a subcommand after its options are parsed; returns the exit code.
using Command = std::function<int()>;

/// These add the options of a subcommand to `app` and return the function that runs it.
Command add_bisect(CLI::App& app);
Command add_stages(CLI::App& app);
Command add_check(CLI::App& app);
Command add_demo(CLI::App& app);
Command add_doctor(CLI::App& app);
Command add_chunks(CLI::App& app);
Command add_completion(CLI::App& app);
Command add_schema(CLI::App& app);
Command add_storage_emulator(CLI::App& app);
Command add_selftest(CLI::App& app);
Command add_time(CLI::App& app);
Command add_tune(CLI::App& app);
Command add_prepare(CLI::App& app);
Command add_plan(CLI::App& app);
Command add_attach(CLI::App& app);
Command add_run(CLI::App& app);
Command add_join(CLI::App& app);
Command add_history(CLI::App& app);
Command add_report(CLI::App& app);
Command add_mcp(CLI::App& app);
Command add_profile(CLI::App& app);
Command add_compare(CLI::App& app);

}  // namespace cachebisect::cli
