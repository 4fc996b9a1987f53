#include "cachebisect/replay/cache/boundary_cache.hpp"

#include <algorithm>
#include <utility>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/protocol/cache_size.hpp"
#include "cachebisect/replay/cache/cache_contents.hpp"
#include "cachebisect/replay/cache/cache_probe.hpp"

namespace cachebisect {
namespace {

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
  State(const Pipeline& chain, Device& on, const CopyOptions& options, LiveOrder from)
      : pipeline(chain), device(on), copy(options), order(std::move(from)) {}

  [[nodiscard]] std::uint64_t batch() const {
    return static_cast<std::uint64_t>(pipeline.batch_size());
  }
  [[nodiscard]] std::unique_ptr<CacheContents> empty() const {
    return std::make_unique<CacheContents>(pipeline, device, copy);
  }
  [[nodiscard]] CacheNeeds needs(const ItemSizes& probed, const CacheBudget& budget) const;
  [[nodiscard]] double sample_limit(const ItemSizes& probed) const;
  [[nodiscard]] bool has_new_samples(std::uint64_t count) const;
  /// Whether the budgets hold `count` samples in addition to `kept`, by the size of the present
  /// ones.
  [[nodiscard]] bool budgets_hold(std::uint64_t count, std::uint64_t kept) const;
  void fill_chosen(std::vector<SampleIndex> indices, Executor& loader, const std::stop_token& stop);
  [[nodiscard]] bool replace(const CacheSamples& samples, Executor& loader,
                             const std::stop_token& stop);
  void remember_all();
  [[nodiscard]] CacheFacts facts(double began);

  const Pipeline& pipeline;
  Device& device;
  CopyOptions copy;
  LiveOrder order;  ///< shares its position with all that reads the data set
  std::unique_ptr<CacheContents> contents = empty();
  CacheNeeds limits;
  double sample_bytes = 0;  ///< limit of the cached samples; batches take the rest
  CacheSize chosen;
  ContentSizes sizes;
  std::uint64_t fills = 0;  ///< begun so far; the epoch of the next filling
};

CacheNeeds BoundaryCache::State::needs(const ItemSizes& probed, const CacheBudget& budget) const {
  CacheNeeds needs;
  needs.batch_size = pipeline.batch_size();
  needs.data_set_samples = pipeline.samples();
  for (std::size_t b = 1; b <= pipeline.stages().size(); ++b) {
    const bool on_host = pipeline.held(b) == Held::host;
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
  needs.host_budget_bytes = budget.host_bytes.value_or(kHostCacheShare * memory.spare_bytes);
  needs.host_memory_bytes = memory.available_bytes;
  if (device.kind() == DeviceKind::cuda) {
    const DeviceInfo& info = device.info();
    needs.device_budget_bytes = budget.device_bytes;
    if (info.free_bytes) {
      const auto free = static_cast<double>(*info.free_bytes);
      needs.device_budget_bytes = std::min(budget.device_bytes.value_or(0.1 * free), free);
    }
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

void BoundaryCache::State::remember_all() {
  for (std::size_t b = 1; b <= pipeline.stages().size(); ++b) contents->remember(b);
}

/// Reduces the number of samples if they are larger than the ones that were probed.
void BoundaryCache::State::fill_chosen(std::vector<SampleIndex> indices, Executor& loader,
                                       const std::stop_token& stop) {
  constexpr double fewer = 0.8;
  indices.resize(chosen.samples);
  while (!contents->fill({indices, fills++}, loader, stop, sample_bytes)) {
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
    indices.resize(chosen.samples);
    chosen.limited_by = "host budget";
  }
}

bool BoundaryCache::State::has_new_samples(std::uint64_t count) const {
  return count <= pipeline.samples() &&
         (count > contents->cached().indices.size() || pipeline.samples() >= count + batch());
}

bool BoundaryCache::State::budgets_hold(std::uint64_t count, std::uint64_t kept) const {
  const bool on_host = device.kind() == DeviceKind::cpu;
  const double host = sizes.bytes_host + (on_host ? sizes.bytes_device : 0);
  const double device_bytes = on_host ? 0 : sizes.bytes_device;
  const double times =
      static_cast<double>(count + kept) / static_cast<double>(contents->cached().indices.size());
  if (host * times > host_limit(limits)) return false;
  // The emulated device takes no memory.
  return device.kind() == DeviceKind::emulated || !limits.device_budget_bytes ||
         device_bytes * times <= *limits.device_budget_bytes;
}

/// True if `samples` are now cached; false, with the caches as before, if they took too much.
bool BoundaryCache::State::replace(const CacheSamples& samples, Executor& loader,
                                   const std::stop_token& stop) {
  const CacheSamples before = contents->cached();
  std::unique_ptr<CacheContents> fresh = empty();
  if (budgets_hold(samples.indices.size(), before.indices.size())) {
    if (!fresh->fill(samples, loader, stop, sample_bytes)) return false;
    contents = std::move(fresh);
    return true;
  }
  contents = std::move(fresh);  // frees the present contents first
  std::exception_ptr failure;
  try {
    if (contents->fill(samples, loader, stop, sample_bytes)) return true;
  } catch (...) {
    failure = std::current_exception();
  }
  contents = empty();
  if (!failure || !is_interruption(failure)) {
    if (!contents->fill(before, loader, stop)) contents = empty();
  }
  if (failure) std::rethrow_exception(failure);
  return false;
}

CacheFacts BoundaryCache::State::facts(double began) {
  sizes = contents->sizes();
  CacheFacts facts;
  facts.samples = contents->cached().indices.size();
  facts.limited_by = chosen.limited_by;
  facts.most_samples = most_samples(limits);
  facts.bytes_host = sizes.bytes_host;
  facts.bytes_device = sizes.bytes_device;
  facts.item_bytes = sizes.item_bytes;
  facts.serve_seconds_per_sample = sizes.serve_seconds_per_sample;
  facts.fields = sizes.fields;
  facts.grouped_bytes_share = sizes.grouped_bytes_share;
  facts.seconds = monotonic_seconds() - began;
  return facts;
}

BoundaryCache::BoundaryCache(const Pipeline& pipeline, Device& device, const CopyOptions& copy,
                             const LiveOrder& order)
    : state_(std::make_unique<State>(pipeline, device, copy, order)) {}

BoundaryCache::~BoundaryCache() = default;

CacheFacts BoundaryCache::fill(Executor& loader, const CacheBudget& budget,
                               const std::stop_token& stop) {
  constexpr std::uint64_t probe_batches = 2;
  const double began = monotonic_seconds();
  State& s = *state_;
  s.contents = s.empty();  // frees the present contents first
  std::vector<SampleIndex> probed = s.order.take(probe_batches * s.batch());
  const ItemSizes sizes = probe_items(s.pipeline, s.device, loader, probed, stop);
  s.limits = s.needs(sizes, budget);
  s.sample_bytes = s.sample_limit(sizes);
  s.chosen = choose_cache_size(s.limits);
  s.fills = 0;
  s.fill_chosen(s.order.take(s.chosen.samples, std::move(probed)), loader, stop);
  s.remember_all();
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
  const bool replaced = s.replace({s.order.take(count), s.fills++}, loader, stop);
  s.remember_all();
  if (!replaced) return std::nullopt;
  return s.facts(began);
}

void BoundaryCache::freshen(Executor& loader, std::uint64_t samples, const std::stop_token& stop) {
  State& s = *state_;
  CacheNeeds needs = s.limits;
  needs.wanted_samples = static_cast<double>(samples);
  s.chosen = choose_cache_size(needs);
  s.fill_chosen(s.order.take(s.chosen.samples), loader, stop);
}

bool BoundaryCache::filled() const noexcept { return state_->contents->filled(); }

std::uint64_t BoundaryCache::samples() const noexcept {
  return state_->contents->cached().indices.size();
}

std::span<const SampleIndex> BoundaryCache::indices() const noexcept {
  return state_->contents->cached().indices;
}

HostCacheView BoundaryCache::host(std::size_t boundary) const {
  return state_->contents->host(boundary);
}

std::span<const DeviceBatch> BoundaryCache::device(std::size_t boundary) const {
  return state_->contents->device(boundary);
}

std::uint64_t BoundaryCache::epoch() const noexcept { return state_->contents->cached().epoch; }

void BoundaryCache::remember(std::size_t boundary) { state_->contents->remember(boundary); }

bool BoundaryCache::intact(std::size_t boundary) const {
  return state_->contents->intact(boundary);
}

}  // namespace cachebisect
