#include "commands/attached_run.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/remote/described_ranks.hpp"

namespace cachebisect::cli {
namespace {

constexpr double kBudgetSeconds = 300;

void check_seconds(const char* option, double seconds) {
  if (seconds > 0 && std::isfinite(seconds)) return;
  throw Error(ErrorKind::usage, std::string(option) + ": seconds greater than 0");
}

void print_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) print_error("note: " + note);
}

}  // namespace

void add_attach_options(CLI::App& app, AttachArguments& arguments, const std::string& then) {
  arguments.then = then;
  app.add_option("--budget", arguments.bisect.budget_seconds,
                 "seconds of measuring at most (300, or more for slow steps)")
      ->type_name("SECONDS");
  add_job_options(app, arguments.bisect);
  app.add_option("--then", arguments.then,
                 "what the training process does afterwards: exit or continue (" + then + ")")
      ->type_name("exit|continue");
  app.add_flag("--inside", arguments.inside,
               "if the verdict names the dataset's own code, profile it and bisect again with the "
               "functions that it calls as stages");
  app.add_option("--hello-timeout", arguments.hello_seconds,
                 "seconds until a training process must have connected (30)")
      ->type_name("SECONDS");
  app.add_option("--answer-timeout", arguments.answer_seconds,
                 "seconds that it may be silent while it measures (300)")
      ->type_name("SECONDS");
}

BisectOptions attach_options(const AttachArguments& arguments) {
  if (arguments.then != "exit" && arguments.then != "continue") {
    throw Error(ErrorKind::usage, "--then " + arguments.then + ": exit or continue");
  }
  check_seconds("--hello-timeout", arguments.hello_seconds);
  check_seconds("--answer-timeout", arguments.answer_seconds);
  BisectOptions options = library_options(arguments.bisect);
  options.budget_seconds = arguments.bisect.budget_seconds.value_or(kBudgetSeconds);
  options.cache = cache_budget(arguments.bisect, 0);
  return options;
}

bool AttachedRun::attach(SessionTools& tools, int command_ended) {
  tools.progress.show("waiting for a training loop");
  const AwaitOptions options{.hello_seconds = arguments_.hello_seconds,
                             .command_ended = command_ended,
                             .limits = {.answer = arguments_.answer_seconds},
                             .on_busy =
                                 [&tools](const std::string& text) {
                                   tools.progress.show(text);
                                   tools.log.debug(text);
                                 },
                             .exit_after_error = arguments_.then == "exit",
                             .on_refusal = [this] { refused_ = true; },
                             .nodes = nodes_};
  AwaitResult found = await_adapter(listener_, options, tools.options.stop);
  // Nothing accepts connections from now on: Python processes that the script starts would wait.
  listener_.close();
  if (nodes_ != nullptr) nodes_->close();
  tools.progress.clear();
  seen_ = std::move(found.seen);
  adapters_ = std::move(found.adapters);
  attached_seconds_ = monotonic_seconds();
  return !adapters_.empty();
}

AttachedReplayer& AttachedRun::open(SessionTools& tools) {
  // What was awaited has one.
  const AttachedAdapter& first = *first_with_loader(adapters_);
  const AdapterDescription description = first.description;
  const ChainDescription& chain = description.chain;
  tools.log.info(chain.name + ": " + std::to_string(chain.samples) + " samples, " +
                 std::to_string(chain.workers) + " workers, device " + chain.device_name +
                 ", step " + chain.train + ", adapter " + first.hello.adapter);
  print_notes(description.notes);
  expected_ = description.expect_samples_per_second;
  tools.options.seed = chain.seed;
  replayer_ = make_replayer(std::exchange(adapters_, {}), tools.options.stop,
                            nodes_ == nullptr ? std::string() : nodes_->own_name());
  return *replayer_;
}

Report AttachedRun::measure(SessionTools& tools) {
  open(tools);
  BisectOptions options = tools.options;
  if (!options.expect_samples_per_second) options.expect_samples_per_second = expected_;
  const double prepared = monotonic_seconds();
  Report report = bisect(*replayer_, options);
  replayer_->check_running();
  if (arguments_.inside && opened(report, tools)) {
    const double earlier = monotonic_seconds() - prepared;
    report = bisect(*replayer_, options);
    replayer_->check_running();
    add_earlier(report.timing, earlier);
  }
  add_preparation(report.timing, prepared - attached_seconds_);
  return report;
}

bool AttachedRun::opened(const Report& report, SessionTools& tools) {
  if (report.verdict.kind != VerdictKind::drop) {
    print_error("note: --inside: no single stage holds the step back");
    return false;
  }
  // If several stages were taken together, the first of them is profiled.
  const auto first = static_cast<std::size_t>(std::max(1, report.verdict.stage_index)) - 1;
  const std::string stage = replayer_->describe().stages.at(first).name;
  tools.progress.show("profiling " + stage);
  const AttachedReplayer::Inside inside = replayer_->look_inside(stage);
  tools.progress.clear();
  print_notes(inside.notes);
  return inside.changed;
}

bool AttachedRun::finish(const SessionEnd& end) {
  const bool exit = arguments_.then == "exit";
  const bool measured = replayer_ != nullptr;
  const bool told = measured ? replayer_->finish(exit, end.exit_code, end.text) : refused_;
  // A process that was refused is only one of them.
  if (nodes_ != nullptr) {
    nodes_->finish({exit, end.exit_code, end.text, measured && told, has_begun()});
  }
  replayer_.reset();
  return told;
}

}  // namespace cachebisect::cli
