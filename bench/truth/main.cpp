// Runs planted chains on this machine or in virtual time, and prints how often the verdict is
// right.
#include <algorithm>
#include <iostream>
#include <thread>

#include "bench/support/program.hpp"
#include "bench/truth/corpus_run.hpp"
#include "bench/truth/hog.hpp"
#include "bench/truth/noise_choice.hpp"
#include "bench/truth/tables.hpp"
#include "bench/truth/what_if_score.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/selftest/selftest.hpp"
#include "cachebisect/selftest/summary.hpp"

namespace {

using namespace cachebisect;
using namespace cachebisect::truth;

struct Arguments {
  bench::ChainRange range{.chains = 40};
  RunSettings settings;
  bench::CorpusOutput output;
  std::string method = "bisect";
  std::string meets = "none";
  std::string trace;
  std::string trace_from;
  std::string resume;
  int max_stages = 30;
  double batch_loader_share = 0;
  int threads = 0;
  bool misses = false;
};

void print_factors(const std::string& recording) {
  std::cout << "# A recorded machine: its slowdown against the quiet machine, per 20 ms.\n";
  std::cout.precision(3);
  for (const double factor : load_trace(recording)) std::cout << factor << '\n';
}

int run(const Arguments& arguments) {
  if (!arguments.output.table.empty()) {
    bench::print_tables(arguments.output, load_scores);
    return 0;
  }
  if (!arguments.trace_from.empty()) {
    print_factors(arguments.trace_from);
    return 0;
  }
  RunSettings settings = arguments.settings;
  settings.method = method_of(arguments.method);
  settings.meets = circumstance_of(arguments.meets);
  constexpr int kSimulatedCores = 2;
  const int cores = settings.simulated ? kSimulatedCores
                                       : std::max(1, static_cast<int>(probe_machine().usable_cpus));
  settings.draw = selftest::corpus(settings.simulated, cores);
  if (!settings.simulated) {
    selftest::require_device(settings.device);
    settings.draw = selftest::for_device(settings.draw, settings.device);
  }
  settings.draw.max_stages = arguments.max_stages;
  settings.draw.batch_loader_share = arguments.batch_loader_share;
  if (arguments.output.print_pipelines) {
    for (int i = 0; i < arguments.range.chains; ++i) {
      std::cout << pipeline_json(
          draw(arguments.range.seed + static_cast<std::uint64_t>(i), settings.draw),
          settings.device);
    }
    return 0;
  }
  const SimulatedNoise noise =
      noise_by_name(settings.noise, settings.white_cv,
                    arguments.trace.empty() ? std::vector<double>{} : load_trace(arguments.trace));
  const Hogs hogs(settings.hogs);
  const int threads = arguments.threads > 0
                          ? arguments.threads
                          : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const bool steady = settings.noise == "white" || settings.noise == "none";
  const WhatIfTruth truth = !settings.simulated ? WhatIfTruth::plan
                            : steady            ? WhatIfTruth::rate
                                                : WhatIfTruth::gain;
  std::vector<WhatIfScore> what_ifs;
  std::cout << selftest::row_header();
  const ScoreFile file =
      run_corpus(arguments.range.seed, arguments.range.chains, settings, noise, arguments.resume,
                 threads, [&](const JudgedChain& done) {
                   const bool right = done.score.outcome == selftest::Outcome::right;
                   if (!arguments.output.only_bad || !right)
                     std::cout << row(done.score) << std::flush;
                   for (const std::string& missed : done.score.missed) {
                     if (arguments.misses) std::cout << "  " << missed << '\n';
                   }
                   for (auto& what_if : score_what_ifs(done.report, done.planted, truth)) {
                     if (!arguments.output.only_bad) std::cout << what_if_row(what_if);
                     what_ifs.push_back(std::move(what_if));
                   }
                 });
  std::cout << '\n' << selftest::summary(file.scores);
  if (!what_ifs.empty()) std::cout << '\n' << what_if_summary(what_ifs);
  return 0;
}

void add_options(CLI::App& app, Arguments& arguments) {
  RunSettings& settings = arguments.settings;
  bench::add_chain_range(app, arguments.range);
  bench::add_corpus_options(app, arguments.output, settings.budget_seconds, arguments.resume);
  app.add_option("--most-stages", arguments.max_stages, "Largest n drawn (30)")
      ->check(CLI::Range(3, 64));
  app.add_option("--batch-loader", arguments.batch_loader_share,
                 "Share of the chains with several workers that load a batch per worker (0)")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--method", arguments.method, "bisect, or a baseline: by-hand, averages, busiest");
  app.add_flag("--simulated", settings.simulated, "In virtual time");
  app.add_option("--noise", settings.noise,
                 "Simulated: none, white, drift, step, burst, burst-one-arm or trace");
  app.add_option("--cv", settings.white_cv, "Simulated: cv of each block's noise (0.01)")
      ->check(CLI::NonNegativeNumber);
  app.add_option(
      "--meets", arguments.meets,
      "Simulated: none, contended, quota, arms, period, content, carried or emptied (none)");
  app.add_option("--trace", arguments.trace, "Simulated: file of factors, or a raw recording");
  app.add_option("--trace-from", arguments.trace_from,
                 "Only print the factors of this raw recording");
  app.add_option("--threads", arguments.threads, "Simulated: threads (all cores)");
  app.add_option("--device", settings.device, "Real time: emulated or cuda[:N] (emulated)");
  app.add_option("--hog", settings.hogs, "Real time: processes alongside that burn a core each")
      ->check(CLI::Range(0, 1024));
  app.add_flag("--misses", arguments.misses, "Print the intervals that do not hold the truth");
  app.add_flag("--what-if", settings.what_ifs,
               "Ask what-ifs of each chain and score the predictions");
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"Planted chains: how often is the verdict right?"};
  add_options(app, arguments);
  return bench::run_program("truth", app, argc, argv, [&] { return run(arguments); });
}
