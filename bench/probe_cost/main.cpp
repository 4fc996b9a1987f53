// Prints what inline observation costs, as docs/performance.md quotes it.
#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/probe_cost/cases.hpp"
#include "bench/probe_cost/pairs.hpp"
#include <CLI/CLI.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/replay/pipeline_replayer.hpp"
#include "cachebisect/stages.hpp"

namespace {

using namespace cachebisect;
using namespace cachebisect::probe_cost;

struct Options {
  std::vector<std::string> files;
  std::vector<std::string> work;
  std::vector<int> workers{0, 1, 2};
  bool emulated = false;
  PairOptions pairs;
};

std::string share_text(const Share& share) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%+.2f%% (%+.2f to %+.2f)", 100 * share.value,
                100 * share.interval.low, 100 * share.interval.high);
  return text.data();
}

void print_row(const std::string& name, int workers, const ProbeCost& cost) {
  const double added = 1e9 * cost.cpu.value * cost.cpu_seconds_per_sample;
  std::printf("| %s | %d | %zu | %.3g us | %s | %s | %+.1f ns |\n", name.c_str(), workers,
              cost.pairs, 1e6 * cost.cpu_seconds_per_sample, share_text(cost.cpu).c_str(),
              share_text(cost.time).c_str(), added);
  std::fflush(stdout);
}

/// On the cpu device the step does nothing, so that loading is all that there is to slow down.
void measure(const Pipeline& pipeline, const Options& options) {
  for (const int workers : options.workers) {
    const std::shared_ptr<Device> device = make_device(pipeline.spec());
    const std::shared_ptr<TrainStep> step =
        options.emulated ? make_emulated_step(pipeline.spec().emulate.value_or(EmulateSpec{}),
                                              pipeline.spec().seed)
                         : make_callback_step([](const DeviceBatch&) {});
    PipelineReplayer replayer(pipeline, device, step, {.workers = workers});
    print_row(pipeline.spec().name, workers, measure_probe_cost(replayer, options.pairs));
  }
}

bool wanted(const Options& options, const std::string& name) {
  if (options.work.empty()) return options.files.empty();
  return std::find(options.work.begin(), options.work.end(), name) != options.work.end();
}

void run(const Options& options) {
  std::puts(
      "| a sample | workers | pairs | CPU a sample | more CPU time | more time | CPU added |");
  std::puts("|---|---|---|---|---|---|---|");
  const WorkFactory factory;
  for (const WorkCase& work : work_cases()) {
    if (wanted(options, work.name)) measure(factory.make(work, options.emulated), options);
  }
  Registry registry;
  stages::register_all(registry);
  const std::string device = options.emulated ? "emulated" : "cpu";
  for (const std::string& file : options.files) {
    measure(Pipeline::from_spec(load_pipeline(file, registry, {{"device", device}}), registry),
            options);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"What does inline observation cost? Pairs of blocks with and without, in turns."};
  app.add_option("--pipeline", options.files, "Pipeline files, loaded without their training step");
  app.add_option("--work", options.work, "Only these of the cases of fixed work (\"4 us\")");
  app.add_option("--workers", options.workers, "Worker counts");
  app.add_flag("--emulated", options.emulated, "On the emulated device, copies and all");
  app.add_option("--seconds", options.pairs.seconds, "A case")->check(CLI::PositiveNumber);
  app.add_option("--seed", options.pairs.seed, "Of the order within pairs");
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
    return 0;
  } catch (const Error& error) {
    std::cerr << "probe_cost: " << error.what() << '\n';
    return exit_code(error.kind());
  }
}
