#include "cachebisect/replay/cache/boundary_cache.hpp"

#include <algorithm>
#include <utility>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/replay/cache/cache_contents.hpp"
#include "cachebisect/replay/cache/cache_probe.hpp"
#include "cachebisect/replay/cache/cache_size.hpp"

namespace cachebisect {
namespace {

double llc_for_workers(const MachineInfo& machine) {
  constexpr double mib = 1024.0 * 1024.0;
  const double by_cores = 2 * mib * machine.usable_cpus + 32 * mib;
  return machine.llc_bytes ? std::min(*machine.llc_bytes, by_cores) : by_cores;
}

bool is_interruption(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    return error.kind() == ErrorKind::interrupted;
  } catch (...) {
    return false;
  }
}

}  // namespace

struct BoundaryCache::State {
  State(const Pipeline& chain, Device& on, const CopyOptions& options)
      : pipeline(chain), device(on), copy(options) {}

  [[nodiscard]] std::uint64_t batch() const {
    return static_cast<std::uint64_t>(pipeline.batch_size());
  }
  [[nodiscard]] std::unique_ptr<CacheContents> empty() const {
    return std::make_unique<CacheContents>(pipeline, device, copy);
  }
  [[nodiscard]] CacheNeeds needs(const ItemSizes& probed, const Executor& loader,
                                 const CacheBudget& budget) const;
  [[nodiscard]] double sample_limit(const ItemSizes& probed) const;
  [[nodiscard]] bool has_new_samples(std::uint64_t count) const;
  /// Whether the budgets hold `count` samples in addition to `kept`, by the size of the present
  /// ones.
  [[nodiscard]] bool budgets_hold(std::uint64_t count, std::uint64_t kept) const;
  void fill_chosen(Executor& loader, const std::stop_token& stop);
  [[nodiscard]] bool replace(std::vector<SampleIndex> indices, Executor& loader,
                             const std::stop_token& stop);
  [[nodiscard]] CacheFacts facts(double began);

  const Pipeline& pipeline;
  Device& device;
  CopyOptions copy;
  std::unique_ptr<CacheContents> contents = empty();
  CacheNeeds limits;
  double sample_bytes = 0;  ///< limit of the cached samples; batches take the rest
  CacheSize chosen;
  ContentSizes sizes;
  std::uint64_t next = 0;  ///< position in the first epoch where the next filling begins
};

CacheNeeds BoundaryCache::State::needs(const ItemSizes& probed, const Executor& loader,
                                       const CacheBudget& budget) const {
  const MachineInfo machine = probe_machine();
  const auto batch = static_cast<double>(pipeline.batch_size());
  CacheNeeds needs;
  needs.batch_size = pipeline.batch_size();
  needs.data_set_samples = pipeline.samples();
  needs.llc_bytes = llc_for_workers(machine);
  needs.samples_in_flight = batch * loader.slots();
  needs.seconds_per_sample = probed.seconds_per_sample;
  for (std::size_t b = 1; b <= pipeline.stages().size(); ++b) {
    const bool on_host = pipeline.held(b) == Held::host;
    double& largest = on_host ? needs.largest_host_item_bytes : needs.largest_device_item_bytes;
    largest = std::max(largest, probed.bytes[b]);
    // Memory of the cpu device is the host's; the emulated device takes no memory.
    double& sum = on_host || device.kind() == DeviceKind::cpu ? needs.host_bytes_per_sample
                                                              : needs.device_bytes_per_sample;
    sum += probed.bytes[b];
    if (b <= pipeline.collate_position()) {
      const auto fields = static_cast<double>(pipeline.stages()[b - 1].output.size());
      needs.host_bytes_per_sample += sizeof(Sample) + fields * sizeof(Sample::NamedField);
    }
  }
  const AvailableMemory memory = available_memory();
  needs.host_budget_bytes = budget.host_bytes.value_or(0.25 * memory.spare_bytes);
  needs.host_memory_bytes = memory.available_bytes;
  if (device.kind() == DeviceKind::cuda) {
    const DeviceInfo& info = device.info();
    needs.device_budget_bytes = budget.device_bytes;
    if (info.free_bytes) {
      const auto free = static_cast<double>(*info.free_bytes);
      needs.device_budget_bytes = std::min(budget.device_bytes.value_or(0.1 * free), free);
    }
    if (info.l2_bytes) needs.device_l2_bytes = static_cast<double>(*info.l2_bytes);
  } else {
    needs.device_budget_bytes = budget.device_bytes;
  }
  return needs;
}

/// The samples' share of the host budget.
double BoundaryCache::State::sample_limit(const ItemSizes& probed) const {
  double of_samples = 0;
  for (std::size_t b = 1; b <= pipeline.collate_position(); ++b) of_samples += probed.bytes[b];
  return (1 + 1e-9) * host_limit(limits) * of_samples / std::max(limits.host_bytes_per_sample, 1.0);
}

/// Reduces the number of samples if they are larger than the ones that were probed.
void BoundaryCache::State::fill_chosen(Executor& loader, const std::stop_token& stop) {
  constexpr double fewer = 0.8;
  for (;;) {
    if (contents->fill(first_indices(pipeline, chosen.samples, 0), loader, stop, sample_bytes))
      break;
    contents = empty();
    const std::uint64_t batches = chosen.samples / batch();
    if (batches <= 1) {
      throw Error(ErrorKind::usage,
                  "the host budget of " +
                      std::to_string(static_cast<std::uint64_t>(host_limit(limits))) +
                      " bytes does not hold one batch at every boundary: samples are larger than "
                      "the first ones; raise --cache-host or lower batch_size");
    }
    const auto kept = static_cast<std::uint64_t>(fewer * static_cast<double>(batches));
    chosen.samples = std::max<std::uint64_t>(1, kept) * batch();
    chosen.limited_by = "host budget";
  }
  next = chosen.samples;
}

bool BoundaryCache::State::has_new_samples(std::uint64_t count) const {
  return count <= pipeline.samples() &&
         (count > contents->indices().size() || pipeline.samples() >= count + batch());
}

bool BoundaryCache::State::budgets_hold(std::uint64_t count, std::uint64_t kept) const {
  const bool on_host = device.kind() == DeviceKind::cpu;
  const double host = sizes.bytes_host + (on_host ? sizes.bytes_device : 0);
  const double device_bytes = on_host ? 0 : sizes.bytes_device;
  const double times =
      static_cast<double>(count + kept) / static_cast<double>(contents->indices().size());
  if (host * times > host_limit(limits)) return false;
  // The emulated device takes no memory.
  return device.kind() == DeviceKind::emulated || !limits.device_budget_bytes ||
         device_bytes * times <= *limits.device_budget_bytes;
}

/// True if `indices` are now cached; false, with the caches as before, if they took too much.
bool BoundaryCache::State::replace(std::vector<SampleIndex> indices, Executor& loader,
                                   const std::stop_token& stop) {
  const std::uint64_t kept = contents->indices().size();
  std::unique_ptr<CacheContents> fresh = empty();
  if (budgets_hold(indices.size(), kept)) {
    if (!fresh->fill(std::move(indices), loader, stop, sample_bytes)) return false;
    contents = std::move(fresh);
    return true;
  }
  const auto present = contents->indices();
  std::vector<SampleIndex> before(present.begin(), present.end());
  contents = std::move(fresh);  // frees the present contents first
  std::exception_ptr failure;
  try {
    if (contents->fill(std::move(indices), loader, stop, sample_bytes)) return true;
  } catch (...) {
    failure = std::current_exception();
  }
  contents = empty();
  if (!failure || !is_interruption(failure)) {
    if (!contents->fill(std::move(before), loader, stop)) contents = empty();
  }
  if (failure) std::rethrow_exception(failure);
  return false;
}

CacheFacts BoundaryCache::State::facts(double began) {
  sizes = contents->sizes();
  CacheFacts facts;
  facts.samples = contents->indices().size();
  facts.limited_by = chosen.limited_by;
  facts.bytes_host = sizes.bytes_host;
  facts.bytes_device = sizes.bytes_device;
  facts.item_bytes = sizes.item_bytes;
  facts.serve_seconds_per_sample = sizes.serve_seconds_per_sample;
  facts.sizes_vary = sizes.vary;
  facts.seconds = monotonic_seconds() - began;
  return facts;
}

BoundaryCache::BoundaryCache(const Pipeline& pipeline, Device& device, const CopyOptions& copy)
    : state_(std::make_unique<State>(pipeline, device, copy)) {}

BoundaryCache::~BoundaryCache() = default;

CacheFacts BoundaryCache::fill(Executor& loader, const CacheBudget& budget,
                               const std::stop_token& stop) {
  constexpr std::uint64_t probe_batches = 2;
  const double began = monotonic_seconds();
  State& s = *state_;
  s.contents = s.empty();  // frees the present contents first
  const std::vector<SampleIndex> probe = first_indices(s.pipeline, probe_batches * s.batch(), 0);
  const ItemSizes sizes = probe_items(s.pipeline, s.device, loader, probe, stop);
  s.limits = s.needs(sizes, loader, budget);
  s.sample_bytes = s.sample_limit(sizes);
  s.chosen = choose_cache_size(s.limits);
  s.fill_chosen(loader, stop);
  return s.facts(began);
}

std::optional<CacheFacts> BoundaryCache::refill(Executor& loader, std::uint64_t samples,
                                                const std::stop_token& stop) {
  const double began = monotonic_seconds();
  State& s = *state_;
  if (!filled()) return std::nullopt;
  const std::uint64_t wanted = samples == 0 ? this->samples() : samples;
  const std::uint64_t count = (wanted + s.batch() - 1) / s.batch() * s.batch();
  if (!s.has_new_samples(count) || !s.budgets_hold(count, 0)) return std::nullopt;
  if (!s.replace(first_indices(s.pipeline, count, s.next), loader, stop)) return std::nullopt;
  s.next = (s.next + count) % s.pipeline.samples();
  return s.facts(began);
}

bool BoundaryCache::filled() const noexcept { return state_->contents->filled(); }

std::uint64_t BoundaryCache::samples() const noexcept { return state_->contents->indices().size(); }

std::span<const SampleIndex> BoundaryCache::indices() const noexcept {
  return state_->contents->indices();
}

HostCacheView BoundaryCache::host(std::size_t boundary) const {
  return state_->contents->host(boundary);
}

std::span<const DeviceBatch> BoundaryCache::device(std::size_t boundary) const {
  return state_->contents->device(boundary);
}

bool BoundaryCache::intact(std::size_t boundary) const {
  return state_->contents->intact(boundary);
}

}  // namespace cachebisect
