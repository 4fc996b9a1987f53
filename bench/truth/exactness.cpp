#include "bench/truth/exactness.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>

#include "cachebisect/base/random.hpp"
#include "cachebisect/base/shuffle.hpp"
#include "cachebisect/base/statistics.hpp"
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
  const Job job = open_job(Pipeline::from_json(pipeline_json(planted), registry), &registry);
  PipelineReplayer replayer = job.make_replayer();
  (void)replayer.prepare({}, {});
  std::vector<int> order(static_cast<std::size_t>(chain.boundaries()) + 1);
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::vector<double>> blocks(order.size());
  RandomStream random({.seed = planted.seed, .stage = hash_name("exactness")});
  for (int round = 0; round < options.rounds; ++round) {
    replayer.begin_round();
    shuffle(order, random);
    for (const int k : order) {
      const auto at = static_cast<std::size_t>(k);
      const double step =
          planted.truth.seconds_per_sample[at] * static_cast<double>(chain.batch_size);
      const BlockResult block = replayer.run(
          {.arm = {.boundary = k},
           .steps = std::max(3, static_cast<int>(std::ceil(options.block_seconds / step))),
           .warmup_steps = kWarmupSteps},
          {});
      if (!block.is_void) blocks[at].push_back(block.seconds / static_cast<double>(block.samples));
    }
  }
  std::vector<Exactness> rows;
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    if (blocks[k].empty()) continue;
    const double expected = planted.truth.seconds_per_sample[k];
    rows.push_back(
        {.seed = planted.seed,
         .boundary = static_cast<int>(k),
         .workers = chain.workers,
         .jitter = has_jitter(chain),
         .limited_by = limit_at(chain, static_cast<int>(k)),
         .expected = expected,
         .measured = median(blocks[k]),
         .spread = 0.5 * (quantile(blocks[k], 0.75) - quantile(blocks[k], 0.25)) / expected});
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
