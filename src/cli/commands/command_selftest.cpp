#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include "commands/commands.hpp"
#include "output/output_files.hpp"
#include "shell/log.hpp"
#include "shell/signals.hpp"
#include "shell/terminal.hpp"
#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/selftest/selftest.hpp"
#include "cachebisect/stages.hpp"

namespace cachebisect::cli {
namespace {

struct SelftestArguments {
  selftest::Options options;
  std::string json;
  bool no_progress = false;
};

std::string json_of(const selftest::Result& result) {
  std::ostringstream json;
  selftest::write_json(result, json);
  return json.str();
}

/// The outputs, opened before anything is measured. With `--json -`, standard output has only JSON.
class SelftestOutputs {
 public:
  explicit SelftestOutputs(const std::string& json) : rows_(json != "-") {
    if (rows_ && !json.empty()) outputs_.add(json, json_of);
  }

  void header() const { say(selftest::row_header()); }
  void row(const selftest::Score& score) const { say(selftest::row(score)); }
  void finish(const selftest::Result& result, SignalWatch& signals) {
    const auto text = [&] {
      return rows_ ? '\n' + selftest::summary(result.scores) : json_of(result);
    };
    outputs_.write(result, {.text = text}, [&] { signals.begin_streams(); });
  }
  /// See OutputFile::discard(). Any thread.
  void discard() const noexcept { outputs_.discard(); }

 private:
  void say(const std::string& text) const {
    if (rows_) std::cout << text << std::flush;
  }

  bool rows_;
  OutputSet<selftest::Result> outputs_;
};

int run(const SelftestArguments& arguments) {
  selftest::require_device(arguments.options.device);
  SelftestOutputs outputs(arguments.json);
  Registry registry;
  stages::register_all(registry);
  SignalWatch signals({.report = [](SignalWatch&) { print_error("interrupted"); },
                       .remove_temporaries = [&] { outputs.discard(); }});
  ProgressLine progress(!arguments.no_progress && isatty(STDERR_FILENO) != 0);
  selftest::Options options = arguments.options;
  options.stop = signals.token();
  options.progress = [&](int chain, const Progress& now) {
    Progress shown = now;
    shown.phase = "chain " + std::to_string(chain + 1) + " of " + std::to_string(options.cases) +
                  ", " + now.phase;
    shown.expected_seconds.reset();
    progress.show(shown);
  };
  options.finished = [&](const selftest::Score& score) {
    progress.clear();
    outputs.row(score);
  };
  outputs.header();
  const auto work = [&] {
    const selftest::Result result = selftest::run(options, registry);
    signals.begin_output();
    progress.clear();
    outputs.finish(result, signals);
    return result.any_wrong() ? exit_code(ErrorKind::gate) : 0;
  };
  return run_until_signal(signals, work, [] { print_error("interrupted"); });
}

}  // namespace

Command add_selftest(CLI::App& app) {
  auto arguments = std::make_shared<SelftestArguments>();
  selftest::Options& options = arguments->options;
  app.add_option("--cases", options.cases, "number of planted chains (20)")->type_name("N");
  app.add_option("--seed", options.seed, "seed of the first chain; each following chain adds 1 (1)")
      ->type_name("N");
  app.add_option("--device", options.device, "emulated or cuda[:N] (emulated)")
      ->type_name("emulated|cuda");
  app.add_option("--budget", options.budget_seconds, "seconds of measuring for each chain (30)")
      ->type_name("SECONDS");
  app.add_option("--json", arguments->json, "write the result as JSON; - is standard output")
      ->type_name("FILE");
  app.add_flag("--no-progress", arguments->no_progress, "no progress on standard error");
  return [arguments] { return run(*arguments); };
}

}  // namespace cachebisect::cli
