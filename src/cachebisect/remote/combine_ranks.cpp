#include "cachebisect/remote/combine_ranks.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "cachebisect/base/error.hpp"

namespace cachebisect {
namespace {

bool has_loader(const ChainDescription& chain) { return !chain.stages.empty(); }

void check_same(const ChainDescription& first, std::size_t first_rank,
                const ChainDescription& other, std::size_t rank) {
  const bool same = std::ranges::equal(
      first.stages, other.stages,
      [](const StageDescription& a, const StageDescription& b) { return a.name == b.name; });
  if (same && first.batch_size == other.batch_size && first.workers == other.workers) return;
  throw Error(ErrorKind::usage,
              "rank " + std::to_string(rank) +
                  " has other stages, another batch size or another number of workers than rank " +
                  std::to_string(first_rank) +
                  "; ranks are measured together only if their loaders are alike");
}

/// By how long they waited for their data; without any waiting, by how long they took.
bool waits_longer(const BlockResult& one, const BlockResult& other) {
  return std::make_tuple(one.starved_seconds, one.seconds) >
         std::make_tuple(other.starved_seconds, other.seconds);
}

/// Those with loaders, the one that waited longest for its data first.
std::vector<std::size_t> by_waiting(const std::vector<BlockResult>& blocks,
                                    const std::set<std::size_t>& without_loader) {
  std::vector<std::size_t> ranks;
  for (std::size_t rank = 0; rank < blocks.size(); ++rank) {
    if (!without_loader.contains(rank)) ranks.push_back(rank);
  }
  const std::size_t leading = std::min<std::size_t>(2, ranks.size());
  std::ranges::partial_sort(
      ranks, ranks.begin() + static_cast<std::ptrdiff_t>(leading),
      [&](std::size_t a, std::size_t b) { return waits_longer(blocks[a], blocks[b]); });
  return ranks;
}

std::optional<SlowestRank> slowest_rank(const std::vector<BlockResult>& blocks,
                                        const std::vector<std::size_t>& ranks) {
  if (ranks.size() < 2) return std::nullopt;
  return SlowestRank{static_cast<int>(ranks[0]), blocks[ranks[0]].starved_seconds,
                     blocks[ranks[1]].starved_seconds};
}

template <class Number>
void add_known(const std::optional<Number>& more, std::optional<Number>& sum) {
  if (more) sum = sum.value_or(0) + *more;
}

void add(const StorageCounts& more, StorageCounts& sum) {
  sum.samples += more.samples;
  sum.workers += more.workers;
  sum.seconds += more.seconds;
  add_known(more.file_opens, sum.file_opens);
  sum.file_reads += more.file_reads;
  sum.file_bytes += more.file_bytes;
  add_known(more.disk_bytes, sum.disk_bytes);
  sum.page_faults += more.page_faults;
  sum.requests += more.requests;
  sum.request_seconds += more.request_seconds;
  sum.waiting_seconds += more.waiting_seconds;
  sum.most_in_flight = std::max(sum.most_in_flight, more.most_in_flight);
  sum.received_bytes += more.received_bytes;
  sum.connections += more.connections;
  sum.clients += more.clients;
  sum.throttled += more.throttled;
  sum.failed += more.failed;
  sum.reopened += more.reopened;
}

}  // namespace

ChainDescription combine_chains(const std::vector<ChainDescription>& chains, double machine_cpus,
                                const std::vector<int>& ranks_beside) {
  const auto first =
      static_cast<std::size_t>(std::ranges::find_if(chains, has_loader) - chains.begin());
  ChainDescription chain = chains.at(first);
  chain.ranks = static_cast<int>(chains.size());
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t r = 0; r < chains.size(); ++r) {
    if (!has_loader(chains[r])) {
      ++chain.ranks_without_loader;
      continue;
    }
    check_same(chain, first, chains[r], r);
    // Blocks have the same untimed steps on all ranks.
    chain.keeps_queues = chain.keeps_queues && chains[r].keeps_queues &&
                         chains[r].ring_prefetch == chain.ring_prefetch;
    least = std::min(least, chains[r].usable_cpus.value_or(machine_cpus) / ranks_beside[r]);
  }
  chain.usable_cpus = least;
  return chain;
}

BlockResult combine_blocks(const std::vector<BlockResult>& blocks,
                           const std::set<std::size_t>& without_loader) {
  const std::vector<std::size_t> ranks = by_waiting(blocks, without_loader);
  BlockResult whole = blocks.at(ranks.at(0));
  whole.slowest_rank = slowest_rank(blocks, ranks);
  const int steps = whole.steps;
  whole.cpu_seconds = 0;
  whole.skipped = 0;
  for (const std::size_t rank : ranks) {
    whole.cpu_seconds += blocks[rank].cpu_seconds / static_cast<double>(ranks.size());
  }
  for (const BlockResult& block : blocks) {
    whole.seconds = std::max(whole.seconds, block.seconds);
    whole.start_seconds = std::min(whole.start_seconds, block.start_seconds);
    whole.first_batch_seconds = std::max(whole.first_batch_seconds, block.first_batch_seconds);
    whole.skipped += block.skipped;
    for (const std::string& file : block.not_kept) {
      if (std::ranges::find(whole.not_kept, file) == whole.not_kept.end()) {
        whole.not_kept.push_back(file);
      }
    }
    whole.is_void = whole.is_void || block.is_void || block.steps != steps;
    // One throttled device holds up all ranks.
    if (block.device.throttled() && !whole.device.throttled()) whole.device = block.device;
    const std::size_t groups = std::min(whole.group_taus.size(), block.group_taus.size());
    for (std::size_t g = 0; g < groups; ++g) {
      whole.group_taus[g] = std::max(whole.group_taus[g], block.group_taus[g]);
    }
  }
  return whole;
}

CacheFacts combine_caches(const std::vector<CacheFacts>& caches) {
  CacheFacts whole = caches.front();
  for (std::size_t r = 1; r < caches.size(); ++r) {
    const CacheFacts& cache = caches[r];
    whole.samples = std::min(whole.samples, cache.samples);
    whole.bytes_host += cache.bytes_host;
    whole.bytes_device += cache.bytes_device;
    whole.seconds = std::max(whole.seconds, cache.seconds);
    if (whole.limited_by.empty()) whole.limited_by = cache.limited_by;
  }
  return whole;
}

std::optional<StorageCounts> combine_storage(
    const std::vector<std::optional<StorageCounts>>& ranks) {
  std::optional<StorageCounts> whole;
  for (const auto& counts : ranks) {
    if (!counts) continue;
    if (whole) {
      add(*counts, *whole);
    } else {
      whole = counts;
    }
  }
  return whole;
}

Arm arm_on_rank(const Arm& arm, int rank) {
  if (arm.ranks.holds(rank)) {
    Arm own = arm;
    own.ranks = {};
    return own;
  }
  return {.boundary = 0, .observed = arm.observed};
}

}  // namespace cachebisect
