#include "bench/truth/exactness.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <numeric>

#include "cachebisect/base/random.hpp"
#include "cachebisect/base/statistics.hpp"
#include "cachebisect/bisect/record/round_runner.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/replay/job/open_job.hpp"
#include "cachebisect/selftest/chain_law.hpp"

namespace cachebisect::selftest {
namespace {

constexpr int kWarmupSteps = 2;

/// The kind of stage after `boundary` that takes the workers longest.
std::string costliest_kind(const SimulatedChain& chain, int boundary) {
  std::map<std::string, double> seconds;
  for (auto s = static_cast<std::size_t>(boundary); s < chain.stages.size(); ++s) {
    seconds[cachebisect::to_string(chain.stages[s].kind)] += chain.stages[s].seconds;
  }
  const auto costliest =
      std::max_element(seconds.begin(), seconds.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return costliest == seconds.end() ? "none" : costliest->first;
}

bool has_jitter(const SimulatedChain& chain) {
  return std::any_of(chain.stages.begin(), chain.stages.end(),
                     [](const auto& stage) { return stage.jitter.kind != Jitter::Kind::none; });
}

std::string table_row(const std::string& name, const std::vector<Exactness>& rows) {
  std::vector<double> errors;
  std::vector<double> sizes;
  std::vector<double> spreads;
  for (const Exactness& row : rows) {
    errors.push_back(row.error());
    sizes.push_back(std::abs(row.error()));
    spreads.push_back(row.spread);
  }
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), "%-20s %5zu  %+7.2f%%  %6.2f%%  %6.2f%%  %6.2f%%\n",
                name.c_str(), rows.size(), 100 * median(errors), 100 * quantile(sizes, 0.9),
                100 * quantile(sizes, 1), 100 * median(spreads));
  return text.data();
}

/// Blocks of about the same seconds at every boundary.
PlannedRound planned_round(const PlantedChain& planted, const ExactnessOptions& options) {
  PlannedRound round;
  round.until = std::numeric_limits<double>::infinity();
  for (int k = 0; k <= planted.chain.boundaries(); ++k) {
    const double step = planted.truth.seconds_per_sample[static_cast<std::size_t>(k)] *
                        static_cast<double>(planted.chain.batch_size);
    const int steps = std::max(3, static_cast<int>(std::ceil(options.block_seconds / step)));
    round.blocks.push_back({{.boundary = k}, steps, {.min = kWarmupSteps}});
  }
  return round;
}

}  // namespace

std::string limit_at(const SimulatedChain& chain, int boundary) {
  const Demands input = chain_law(chain, boundary);
  const double loading =
      std::accumulate(input.live_seconds.begin(), input.live_seconds.end(), 0.0) /
      std::max(1, chain.workers);
  const std::array<std::pair<double, std::string>, 5> servers{{
      {input.copy_overlaps ? std::max(input.step_seconds, input.copy_seconds)
                           : input.step_seconds + input.copy_seconds,
       input.copy_overlaps && input.step_seconds >= input.copy_seconds ? "step" : "copy"},
      {input.serial_seconds, "lock"},
      {loading, costliest_kind(chain, boundary)},
      {chain.workers > 0 ? input.cpu_seconds / input.cores : 0, "cores"},
      {input.memory_seconds, "memory"},
  }};
  return std::max_element(servers.begin(), servers.end(),
                          [](const auto& a, const auto& b) { return a.first < b.first; })
      ->second;
}

std::vector<Exactness> measure_exactness(const PlantedChain& planted, const Registry& registry,
                                         const ExactnessOptions& options) {
  const SimulatedChain& chain = planted.chain;
  const Job job = open_job(Pipeline::from_json(pipeline_json(planted), registry), &registry,
                           {.order_nonce = 0});
  PipelineReplayer replayer = job.make_replayer();
  (void)replayer.prepare({}, {});
  const BisectOptions bisecting{.seed = planted.seed};
  std::vector<BlockRecord> records;
  BlockRunner blocks(replayer, bisecting, records);
  RandomStream random({.seed = planted.seed, .stage = hash_name("exactness")});
  RoundRunner runner(blocks, random);
  RoundTable table = RoundTable::of_boundaries(chain.boundaries());
  PlannedRound round = planned_round(planted, options);
  for (; round.number < options.rounds; ++round.number) runner.run(round, table);
  std::vector<Exactness> rows;
  for (int k = 0; k <= table.last(); ++k) {
    const std::vector<double> taus = table.block_taus(k);
    if (taus.empty()) continue;
    const double expected = planted.truth.seconds_per_sample[static_cast<std::size_t>(k)];
    rows.push_back({.seed = planted.seed,
                    .boundary = k,
                    .workers = chain.workers,
                    .jitter = has_jitter(chain),
                    .limited_by = limit_at(chain, k),
                    .expected = expected,
                    .measured = median(taus),
                    .spread = 0.5 * (quantile(taus, 0.75) - quantile(taus, 0.25)) / expected});
  }
  return rows;
}

std::string exactness_table(const std::vector<Exactness>& rows) {
  std::map<std::string, std::vector<Exactness>> groups;
  for (const Exactness& row : rows) {
    groups[row.limited_by + ", W = " + std::to_string(row.workers) + (row.jitter ? ", jitter" : "")]
        .push_back(row);
  }
  std::string text = "limited by         boundaries  median      p90      max   spread\n";
  for (const auto& [name, group] : groups) text += table_row(name, group);
  if (!rows.empty()) text += table_row("all", rows);
  return text;
}

}  // namespace cachebisect::selftest
