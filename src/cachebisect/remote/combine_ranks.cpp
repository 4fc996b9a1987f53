#include "cachebisect/remote/combine_ranks.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

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
bool waits_longer(const BlockPart& one, const BlockPart& other) {
  return std::make_tuple(one.loaders > 0, one.block.starved_seconds, one.slowest_seconds) >
         std::make_tuple(other.loaders > 0, other.block.starved_seconds, other.slowest_seconds);
}

/// The part with the rank that waited longest for its data.
std::size_t slowest_of(const std::vector<BlockPart>& parts) {
  std::size_t slowest = 0;
  for (std::size_t p = 1; p < parts.size(); ++p) {
    if (waits_longer(parts[p], parts[slowest])) slowest = p;
  }
  return slowest;
}

void raise_to(std::optional<double> other, std::optional<double>& most) {
  if (other) most = std::max(*other, most.value_or(*other));
}

void add_files(const std::vector<std::string>& more, std::vector<std::string>& files) {
  for (const std::string& file : more) {
    if (std::ranges::find(files, file) == files.end()) files.push_back(file);
  }
}

void add(const BlockResult& more, int steps, BlockResult& whole) {
  whole.seconds = std::max(whole.seconds, more.seconds);
  whole.start_seconds = std::min(whole.start_seconds, more.start_seconds);
  whole.first_batch_seconds = std::max(whole.first_batch_seconds, more.first_batch_seconds);
  whole.skipped += more.skipped;
  add_files(more.not_kept, whole.not_kept);
  whole.is_void = whole.is_void || more.is_void || more.steps != steps;
  // One throttled device holds up all ranks.
  if (more.device.throttled() && !whole.device.throttled()) whole.device = more.device;
  const std::size_t groups = std::min(whole.group_taus.size(), more.group_taus.size());
  for (std::size_t g = 0; g < groups; ++g) {
    whole.group_taus[g] = std::max(whole.group_taus[g], more.group_taus[g]);
  }
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

BlockPart part_of_rank(BlockResult block, int rank, bool has_loader) {
  const double seconds = block.seconds;
  return {.block = std::move(block),
          .loaders = has_loader ? 1 : 0,
          .slowest = rank,
          .slowest_seconds = seconds};
}

BlockPart join_parts(const std::vector<BlockPart>& parts) {
  const std::size_t slowest = slowest_of(parts);
  BlockPart whole = parts.at(slowest);
  const int steps = whole.block.steps;
  whole.loaders = 0;
  whole.block.skipped = 0;
  double cpu_seconds = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const BlockPart& part = parts[p];
    whole.loaders += part.loaders;
    cpu_seconds += part.block.cpu_seconds * part.loaders;
    add(part.block, steps, whole.block);
    if (p == slowest || part.loaders == 0) continue;
    raise_to(part.block.starved_seconds, whole.next_starved_seconds);
  }
  whole.block.cpu_seconds = whole.loaders == 0 ? 0 : cpu_seconds / whole.loaders;
  return whole;
}

BlockResult whole_block(const std::vector<BlockPart>& parts) {
  BlockPart whole = join_parts(parts);
  if (whole.next_starved_seconds) {
    whole.block.slowest_rank =
        SlowestRank{whole.slowest, whole.block.starved_seconds, *whole.next_starved_seconds};
  }
  return std::move(whole.block);
}

BlockResult combine_blocks(const std::vector<BlockResult>& blocks,
                           const std::set<std::size_t>& without_loader) {
  std::vector<BlockPart> parts;
  parts.reserve(blocks.size());
  for (std::size_t rank = 0; rank < blocks.size(); ++rank) {
    parts.push_back(
        part_of_rank(blocks[rank], static_cast<int>(rank), !without_loader.contains(rank)));
  }
  return whole_block(parts);
}

CacheFacts combine_caches(const std::vector<CacheFacts>& caches) {
  CacheFacts whole = caches.front();
  for (std::size_t r = 1; r < caches.size(); ++r) {
    const CacheFacts& cache = caches[r];
    whole.samples = std::min(whole.samples, cache.samples);
    whole.most_samples = std::min(whole.most_samples, cache.most_samples);
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

Arm arm_of_part(const Arm& arm, bool freed) {
  if (!freed) return {.boundary = 0, .observed = arm.observed};
  Arm own = arm;
  own.ranks = {};
  return own;
}

Arm arm_on_rank(const Arm& arm, int rank) { return arm_of_part(arm, arm.ranks.holds(rank)); }

}  // namespace cachebisect
