// Runs planted chains on this machine, or in virtual time, and prints how often the verdict was
// right.
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#include "bench/truth/what_if_score.hpp"
#include <CLI/CLI.hpp>

#include "cachebisect/api/selftest/draw.hpp"
#include "cachebisect/api/selftest/selftest.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/replay/simulated_replayer.hpp"
#include "cachebisect/stages.hpp"

namespace {

using namespace cachebisect;
using namespace cachebisect::selftest;

struct Arguments {
  int chains = 40;
  std::uint64_t seed = 1;
  double budget = 30;
  bool simulated = false;
  double noise_cv = 0.01;
  bool print_json = false;
  bool what_if = false;
  bool jitter = false;
  std::string resume;
  std::string trace;
  double trace_cell = 0.02;
};

/// A recorded slowdown: one factor a line.
std::vector<double> load_trace(const std::string& file) {
  std::vector<double> factors;
  if (file.empty()) return factors;
  std::ifstream in(file);
  for (double factor = 0; in >> factor;) factors.push_back(factor);
  if (factors.empty()) throw Error(ErrorKind::usage, "no factors in " + file + "; one a line");
  return factors;
}

Report run_simulated(const PlantedChain& planted, const BisectOptions& bisect_options,
                     const SimulatedNoise& noise) {
  SimulatedOptions options;
  options.seed = planted.seed;
  options.noise = noise;
  SimulatedReplayer replayer(planted.chain, options);
  return bisect(replayer, bisect_options);
}

/// A finished chain as one line of the resume file: numbers and words without blanks.
void append(const std::string& file, const Score& s) {
  if (file.empty()) return;
  std::ofstream out(file, std::ios::app);
  out << s.seed << ' ' << static_cast<int>(s.shape) << ' ' << (s.planted.empty() ? "-" : s.planted)
      << ' ' << s.stages << ' ' << s.workers << ' ' << static_cast<int>(s.outcome) << ' '
      << s.verdict << ' ' << s.expected << ' ' << s.false_alarm << ' ' << s.wrong_stage << ' '
      << s.intervals << ' ' << s.covered << ' ' << s.largest_drop << ' ' << s.seconds << ' '
      << s.rounds << '\n';
  if (!out) throw Error(ErrorKind::output, "cannot write " + file);
}

std::vector<Score> load(const std::string& file) {
  std::vector<Score> scores;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    Score s;
    int shape = 0;
    int outcome = 0;
    if (fields >> s.seed >> shape >> s.planted >> s.stages >> s.workers >> outcome >> s.verdict >>
        s.expected >> s.false_alarm >> s.wrong_stage >> s.intervals >> s.covered >>
        s.largest_drop >> s.seconds >> s.rounds) {
      s.shape = static_cast<Pattern>(shape);
      s.outcome = static_cast<Outcome>(outcome);
      if (s.planted == "-") s.planted.clear();
      scores.push_back(std::move(s));
    }
  }
  return scores;
}

int run(const Arguments& options) {
  DrawOptions draw_options;
  draw_options.jitter = options.jitter;
  if (!options.simulated) {
    draw_options.cores = std::max(1, static_cast<int>(probe_machine().usable_cpus));
  }
  Registry registry;
  stages::register_all(registry);
  std::vector<Score> scores = load(options.resume);
  std::set<std::uint64_t> done;
  for (const Score& s : scores) done.insert(s.seed);
  const SimulatedNoise noise{.white_cv = options.noise_cv,
                             .trace = load_trace(options.trace),
                             .trace_seconds = options.trace_cell};
  std::vector<truth::WhatIfScore> what_ifs;
  std::cout << row_header();
  for (const Score& s : scores) std::cout << row(s);
  for (int i = 0; i < options.chains; ++i) {
    const std::uint64_t seed = options.seed + static_cast<std::uint64_t>(i);
    if (done.contains(seed)) continue;
    const PlantedChain planted = draw(seed, draw_options);
    if (options.print_json) {
      std::cout << pipeline_json(planted);
      continue;
    }
    BisectOptions bisect_options;
    bisect_options.budget_seconds = options.budget;
    bisect_options.seed = seed;
    bisect_options.explain = false;
    if (options.what_if) bisect_options.what_ifs = truth::what_ifs_of(planted);
    const Report report = options.simulated ? run_simulated(planted, bisect_options, noise)
                                            : bisect_planted(planted, bisect_options, registry);
    scores.push_back(score(report, planted));
    append(options.resume, scores.back());
    std::cout << row(scores.back()) << std::flush;
    for (auto& what_if : truth::score_what_ifs(report, planted)) {
      std::cout << truth::what_if_row(what_if);
      what_ifs.push_back(std::move(what_if));
    }
  }
  if (!options.print_json) std::cout << '\n' << summary(scores);
  if (!what_ifs.empty()) std::cout << '\n' << truth::what_if_summary(what_ifs);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments options;
  CLI::App app{"Planted chains: how often is the verdict right on this machine?"};
  app.add_option("--chains", options.chains, "How many")->check(CLI::Range(1, 100000));
  app.add_option("--seed", options.seed, "Of the first chain; the next ones count on");
  app.add_option("--budget", options.budget, "Seconds of measuring for each chain");
  app.add_flag("--simulated", options.simulated, "In virtual time");
  app.add_option("--noise", options.noise_cv, "Simulated: cv of the noise of a block");
  app.add_option("--trace", options.trace, "Simulated: recorded slowdown, one factor a line");
  app.add_option("--trace-cell", options.trace_cell, "Simulated: seconds that a factor holds")
      ->check(CLI::PositiveNumber);
  app.add_option("--resume", options.resume, "Remember finished chains in this file, skip them");
  app.add_flag("--what-if", options.what_if, "Ask what-ifs of each chain and score the answers");
  app.add_flag("--jitter", options.jitter, "Half of the chains get costs that vary");
  app.add_flag("--print-pipelines", options.print_json, "Print the pipeline files, run nothing");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(options);
  } catch (const Error& error) {
    std::cerr << "truth: " << error.what() << '\n';
    return exit_code(error.kind());
  }
}
