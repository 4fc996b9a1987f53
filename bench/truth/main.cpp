// Runs planted chains on this machine or in virtual time, and prints how often the verdict is
// right.
#include <algorithm>
#include <iostream>
#include <thread>

#include "bench/truth/corpus_run.hpp"
#include "bench/truth/hog.hpp"
#include "bench/truth/noise_choice.hpp"
#include "bench/truth/tables.hpp"
#include "bench/truth/what_if_score.hpp"
#include <CLI/CLI.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/selftest/summary.hpp"

namespace {

using namespace cachebisect;
using namespace cachebisect::truth;

struct Arguments {
  int chains = 40;
  std::uint64_t seed = 1;
  RunSettings settings;
  std::string method = "bisect";
  std::string trace;
  std::string trace_from;
  std::string resume;
  std::string table;
  std::vector<std::string> tabulated;
  int max_stages = 30;
  double batch_loader_share = 0;
  int threads = 0;
  bool only_bad = false;
  bool print_pipelines = false;
};

void print_factors(const std::string& recording) {
  std::cout << "# A recorded machine: its slowdown against the quiet machine, per 20 ms.\n";
  std::cout.precision(3);
  for (const double factor : load_trace(recording)) std::cout << factor << '\n';
}

void print_table(const Arguments& arguments) {
  if (arguments.table != "markdown") {
    throw Error(ErrorKind::usage, "--table " + arguments.table + ": expected markdown");
  }
  std::vector<ScoreFile> runs;
  for (const std::string& file : arguments.tabulated) runs.push_back(load_scores(file));
  std::cout << markdown(runs);
}

int run(const Arguments& arguments) {
  if (!arguments.table.empty()) {
    print_table(arguments);
    return 0;
  }
  if (!arguments.trace_from.empty()) {
    print_factors(arguments.trace_from);
    return 0;
  }
  RunSettings settings = arguments.settings;
  settings.method = method_of(arguments.method);
  constexpr int kSimulatedCores = 2;
  const int cores = settings.simulated ? kSimulatedCores
                                       : std::max(1, static_cast<int>(probe_machine().usable_cpus));
  settings.draw = selftest::corpus(settings.simulated, cores);
  settings.draw.max_stages = arguments.max_stages;
  settings.draw.batch_loader_share = arguments.batch_loader_share;
  if (arguments.print_pipelines) {
    for (int i = 0; i < arguments.chains; ++i) {
      std::cout << pipeline_json(
          draw(arguments.seed + static_cast<std::uint64_t>(i), settings.draw));
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
      run_corpus(arguments.seed, arguments.chains, settings, noise, arguments.resume, threads,
                 [&](const JudgedChain& done) {
                   const bool right = done.score.outcome == selftest::Outcome::right;
                   if (!arguments.only_bad || !right) std::cout << row(done.score) << std::flush;
                   for (auto& what_if : score_what_ifs(done.report, done.planted, truth)) {
                     if (!arguments.only_bad) std::cout << what_if_row(what_if);
                     what_ifs.push_back(std::move(what_if));
                   }
                 });
  std::cout << '\n' << selftest::summary(file.scores);
  if (!what_ifs.empty()) std::cout << '\n' << what_if_summary(what_ifs);
  return 0;
}

void add_options(CLI::App& app, Arguments& arguments) {
  RunSettings& settings = arguments.settings;
  app.add_option("--chains", arguments.chains, "How many")->check(CLI::Range(1, 1000000));
  app.add_option("--seed", arguments.seed, "Of the first chain; the others follow");
  app.add_option("--most-stages", arguments.max_stages, "Largest n drawn (30)")
      ->check(CLI::Range(3, 64));
  app.add_option("--batch-loader", arguments.batch_loader_share,
                 "Share of the chains with several workers that load a batch per worker (0)")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--budget", settings.budget_seconds, "Seconds of measuring for each chain (60)")
      ->check(CLI::PositiveNumber);
  app.add_option("--method", arguments.method, "bisect, or a baseline: by-hand, averages, busiest");
  app.add_flag("--simulated", settings.simulated, "In virtual time");
  app.add_option("--noise", settings.noise,
                 "Simulated: none, white, drift, step, burst, burst-one-arm or trace");
  app.add_option("--cv", settings.white_cv, "Simulated: cv of each block's noise (0.01)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--trace", arguments.trace, "Simulated: file of factors, or a raw recording");
  app.add_option("--trace-from", arguments.trace_from,
                 "Only print the factors of this raw recording");
  app.add_option("--threads", arguments.threads, "Simulated: threads (all cores)");
  app.add_option("--hog", settings.hogs, "Real time: processes alongside that burn a core each")
      ->check(CLI::Range(0, 1024));
  app.add_option("--resume", arguments.resume,
                 "Keep the scores of finished chains in this file, and skip those in it");
  app.add_option("--table", arguments.table, "Only print the tables of finished runs, as markdown");
  app.add_option("files", arguments.tabulated, "Files that --resume wrote, for --table");
  app.add_flag("--only-bad", arguments.only_bad,
               "Print rows only of chains that were not judged right");
  app.add_flag("--what-if", settings.what_ifs,
               "Ask what-ifs of each chain and score the predictions");
  app.add_flag("--print-pipelines", arguments.print_pipelines, "Only print the pipeline files");
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"Planted chains: how often is the verdict right?"};
  add_options(app, arguments);
  CLI11_PARSE(app, argc, argv);
  try {
    return run(arguments);
  } catch (const Error& error) {
    std::cerr << "truth: " << error.what() << '\n';
    return exit_code(error.kind());
  }
}
