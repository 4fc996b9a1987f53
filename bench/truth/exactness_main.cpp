// Prints how exactly planted costs are met in real time on this machine.
#include <iostream>

#include "bench/support/program.hpp"
#include "bench/truth/exactness.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/stages.hpp"

namespace {

using namespace cachebisect;
using namespace cachebisect::selftest;

struct Options {
  bench::ChainRange range{.chains = 20};
  bool each = false;
  DrawOptions draw;
  ExactnessOptions measure;
};

int run(Options options) {
  options.draw.cores = std::max(1, static_cast<int>(probe_machine().usable_cpus));
  Registry registry;
  stages::register_all(registry);
  std::vector<Exactness> rows;
  for (int i = 0; i < options.range.chains; ++i) {
    const PlantedChain planted =
        draw(options.range.seed + static_cast<std::uint64_t>(i), options.draw);
    for (const Exactness& row : measure_exactness(planted, registry, options.measure)) {
      rows.push_back(row);
      if (!options.each) continue;
      std::cout << "seed " << row.seed << " boundary " << row.boundary << " W " << row.workers
                << " limited by " << row.limited_by << ": expected " << 1e6 * row.expected
                << " us, measured " << 1e6 * row.measured << " us, error " << 100 * row.error()
                << "%, spread " << 100 * row.spread << "%\n";
    }
  }
  std::cout << exactness_table(rows);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Planted chains: how exactly are their costs met in real time on this machine?"};
  bench::add_chain_range(app, options.range);
  app.add_option("--rounds", options.measure.rounds, "Blocks per boundary")
      ->check(CLI::Range(1, 1000));
  app.add_option("--block", options.measure.block_seconds, "Seconds of a block")
      ->check(CLI::PositiveNumber);
  app.add_flag("--jitter", options.draw.jitter, "Half of the chains get varying costs");
  app.add_flag("--each", options.each, "Print a row for every boundary");
  return bench::run_program("exactness", app, argc, argv, [&] { return run(options); });
}
