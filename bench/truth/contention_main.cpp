// Runs the bisection on chains whose training step competes with the workers for cores, and prints
// how often it agrees with a long measurement of the same chain.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#include "bench/support/program.hpp"
#include "bench/truth/contention.hpp"
#include "bench/truth/exhaustive.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/replay/job/open_job.hpp"
#include "cachebisect/selftest/summary.hpp"
#include "cachebisect/stages.hpp"

namespace {

using namespace cachebisect;
using namespace cachebisect::truth;

struct Options {
  bench::ChainRange range{.chains = 10};
  double budget = 20;
  double truth_seconds = 20;
  bool model = false;
  std::string resume;
};

struct Outcome {
  selftest::Score score;
  /// -1: not reported; 0: its interval misses that of the truth; 1: they overlap.
  int contention = 0;
};

bool overlap(const Interval& a, const Interval& b) { return a.low <= b.high && b.low <= a.high; }

std::string percent(const Interval& interval) {
  std::ostringstream out;
  out << 100 * interval.low << " to " << 100 * interval.high << "%";
  return out.str();
}

Outcome run_chain(const ContentionChain& drawn, const Options& options, const Registry& registry) {
  JobOptions job_options;
  job_options.order_nonce = 0;
  if (!drawn.model) job_options.step = make_burning_step(drawn.threads, drawn.step_seconds);
  const Job job = open_job(Pipeline::from_json(drawn.json, registry), &registry, job_options);
  PipelineReplayer replayer = job.make_replayer();
  BisectOptions bisect_options;
  bisect_options.budget_seconds = options.budget;
  bisect_options.seed = drawn.planted.seed;
  const Report report = bisect(replayer, bisect_options);
  const ExhaustiveTruth truth =
      measure_exhaustively(replayer, options.truth_seconds, drawn.planted.seed);
  selftest::PlantedChain planted = drawn.planted;
  planted.truth = truth.truth;
  planted.truth.planted = std::to_string(drawn.planted.chain.workers) + "+" +
                          std::to_string(drawn.threads) + " threads";
  Outcome out;
  out.score = selftest::score(report, planted);
  const auto& reported = report.loss.contention.interval;
  out.contention = !reported || !truth.contention
                       ? -1
                       : static_cast<int>(overlap(*reported, truth.contention_interval));
  std::cout << selftest::row(out.score) << "         truth: loss "
            << percent(*truth.truth.loss_interval) << ", contention "
            << (truth.contention ? percent(truth.contention_interval) : "not measured")
            << "; reported " << (reported ? percent(*reported) : "nothing") << "; " << truth.rounds
            << " rounds\n"
            << std::flush;
  return out;
}

std::vector<Outcome> load(const std::string& file) {
  std::vector<Outcome> outcomes;
  std::ifstream in(file);
  for (Outcome o; in >> o.contention;) {
    std::string line;
    std::getline(in, line);
    o.score = selftest::score_of(line);
    outcomes.push_back(std::move(o));
  }
  return outcomes;
}

void append(const std::string& file, const Outcome& o) {
  if (file.empty()) return;
  std::ofstream out(file, std::ios::app);
  out << o.contention << ' ' << selftest::to_line(o.score) << '\n';
  if (!out) throw Error(ErrorKind::output, "cannot write " + file);
}

void print_summary(const std::vector<Outcome>& outcomes) {
  std::vector<selftest::Score> scores;
  int reported = 0;
  int right = 0;
  for (const Outcome& o : outcomes) {
    scores.push_back(o.score);
    reported += o.contention >= 0 ? 1 : 0;
    right += o.contention > 0 ? 1 : 0;
  }
  std::cout << '\n'
            << selftest::summary(scores) << "contention    " << right << " of " << reported << '\n';
}

int run(const Options& options) {
  const int cores = std::max(1, static_cast<int>(probe_machine().usable_cpus));
  Registry registry;
  stages::register_all(registry);
  std::vector<Outcome> outcomes = load(options.resume);
  std::set<std::uint64_t> done;
  for (const Outcome& o : outcomes) done.insert(o.score.seed);
  std::cout << selftest::row_header();
  for (int i = 0; i < options.range.chains; ++i) {
    const std::uint64_t seed = options.range.seed + static_cast<std::uint64_t>(i);
    if (done.contains(seed)) continue;
    outcomes.push_back(run_chain(draw_contention(seed, cores, options.model), options, registry));
    append(options.resume, outcomes.back());
  }
  print_summary(outcomes);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Training steps that compete with the workers for cores: is the verdict right?"};
  bench::add_chain_range(app, options.range);
  app.add_option("--budget", options.budget, "Seconds of measuring for each verdict (20)")
      ->check(CLI::PositiveNumber);
  app.add_option("--truth-seconds", options.truth_seconds,
                 "Seconds of the long measurement of each chain (20)")
      ->check(CLI::PositiveNumber);
  app.add_flag("--model", options.model, "Train a LibTorch network; needs the torch module");
  app.add_option("--resume", options.resume,
                 "Keep the scores of finished chains in this file, and skip those in it");
  return bench::run_program("contention", app, argc, argv, [&] { return run(options); });
}
