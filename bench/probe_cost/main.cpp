// Prints the cost of inline observation, as quoted in docs/understand/performance.md.
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/probe_cost/cases.hpp"
#include "bench/probe_cost/pairs.hpp"
#include "bench/support/program.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/replay/job/make_device.hpp"
#include "cachebisect/replay/job/open_job.hpp"
#include "cachebisect/stages.hpp"

namespace {

using namespace cachebisect;
using namespace cachebisect::probe_cost;

struct Options {
  std::vector<std::string> files;
  std::vector<std::string> work;
  std::vector<int> workers{0, 1, 2};
  bool emulated = false;
  double magnified = 16;
  PairOptions pairs;
};

std::string share_text(const Share& share) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%+.2f%% (%+.2f to %+.2f)", 100 * share.value,
                100 * share.interval.low, 100 * share.interval.high);
  return text.data();
}

ProbeCost measure_direct(const Pipeline& pipeline, int workers, const Options& options) {
  const Job job = open_job(
      pipeline, nullptr,
      {.workers = workers,
       .step = make_callback_step([](const DeviceBatch&) {}, {DeviceKind::cpu, DeviceKind::cuda}),
       .order_nonce = 0});
  PipelineReplayer replayer = job.make_replayer();
  return measure_pairs(replay_blocks(replayer), options.pairs);
}

BlockFunction loading(const Pipeline& pipeline, Device& device, int workers, double budget_factor) {
  ExecutorOptions options{
      .workers = workers, .prefetch = pipeline.spec().prefetch, .loader = pipeline.spec().loader};
  options.observation_budget *= budget_factor;
  return loader_blocks(std::make_shared<Executor>(pipeline, device, options));
}

struct Magnified {
  Share cpu;
  double estimated_seconds_per_sample = 0;  ///< by the loader, of its usual probes
};

/// Measures many more probes than usual, whose cost stands out from the noise, and scales it down
/// by the ratio of the seconds that the loader estimates for them and for the usual ones.
Magnified measure_magnified(const Pipeline& pipeline, int workers, const Options& options) {
  const std::shared_ptr<Device> device = make_device(pipeline.spec());
  const BlockFunction usual = loading(pipeline, *device, workers, 1);
  std::array<double, 5> estimated{};
  for (double& seconds : estimated) seconds = usual(true).observing_seconds;
  const ProbeCost many =
      measure_pairs(loading(pipeline, *device, workers, options.magnified), options.pairs);
  const double times = many.observing_seconds_per_sample / median(estimated);
  const Interval& all = many.cpu.interval;
  return {{many.cpu.value / times, {all.low / times, all.high / times}}, median(estimated)};
}

/// On the cpu device the step does nothing, so that all time is loading.
void measure(const Pipeline& pipeline, const Options& options) {
  for (const int workers : options.workers) {
    const ProbeCost direct = measure_direct(pipeline, workers, options);
    const Magnified magnified = measure_magnified(pipeline, workers, options);
    const double sample = direct.cpu_seconds_per_sample;
    std::printf("| %s | %d | %.3g us | %s | %s | %s | %.2f%% |\n", pipeline.spec().name.c_str(),
                workers, 1e6 * sample, share_text(direct.time).c_str(),
                share_text(direct.cpu).c_str(), share_text(magnified.cpu).c_str(),
                100 * magnified.estimated_seconds_per_sample / sample);
    std::fflush(stdout);
  }
}

bool wanted(const Options& options, const std::string& name) {
  if (options.work.empty()) return options.files.empty();
  return std::find(options.work.begin(), options.work.end(), name) != options.work.end();
}

void run(const Options& options) {
  std::puts(
      "| pipeline | workers | CPU per sample | time | CPU time | CPU time, magnified | estimated "
      "|");
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
  CLI::App app{"The cost of inline observation, from pairs of blocks with and without it"};
  app.add_option("--pipeline", options.files, "Pipeline files, loaded without their training step");
  app.add_option("--work", options.work, "Run only these cases of fixed work (\"4 us\")");
  app.add_option("--workers", options.workers, "Worker counts");
  app.add_flag("--emulated", options.emulated, "On the emulated device, with copies");
  app.add_option("--magnified", options.magnified,
                 "Budget of the magnified probes, as a multiple of the usual one")
      ->check(CLI::Range(1.0, 100.0));
  app.add_option("--seconds", options.pairs.seconds, "Per case, and again for its magnified probes")
      ->check(CLI::PositiveNumber);
  app.add_option("--seed", options.pairs.seed, "Seed of the order within pairs");
  return bench::run_program("probe_cost", app, argc, argv, [&] {
    run(options);
    return 0;
  });
}
