#include "cachebisect/replay/boundary_cache.hpp"

#include <algorithm>
#include <cmath>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/replay/cache_plan.hpp"
#include "cachebisect/replay/cache_probe.hpp"
#include "cachebisect/replay/content_hash.hpp"
#include "cachebisect/replay/device_chain.hpp"
#include "cachebisect/replay/host_arena.hpp"
#include "cachebisect/replay/load_guard.hpp"

namespace cachebisect {
namespace {

/// Batches with the memory behind them; `looks` is what is handed out.
template <class BatchType>
struct BatchStore {
  std::vector<OwnedBatch<BatchType>> owned;
  std::vector<BatchType> looks;

  void resize(std::size_t count, const std::shared_ptr<MemoryResource>& memory) {
    owned.reserve(count);
    for (std::size_t i = 0; i < count; ++i) owned.emplace_back(memory);
  }
  void seal() {
    looks.clear();
    for (const auto& item : owned) looks.push_back(item.batch);
  }
};

void store_sample(const Sample& from, Sample& to, HostArena& arena) {
  to.set_index(from.index());
  to.set_origin(from.origin());
  for (const Sample::NamedField& named : from.fields()) {
    const ConstTensorView view = named.field.view();
    const TensorView place = dense_view(arena.take(view.byte_size()), view.dtype, view.shape);
    copy_tensor(view, place);
    to.field(named.name).share(place);
  }
}

void copy_host_batch(const HostBatch& from, OwnedHostBatch& to) {
  to.batch.size = from.size;
  to.batch.indices = from.indices;
  to.batch.padding_share = from.padding_share;
  for (std::size_t i = 0; i < from.fields.size(); ++i) {
    const BatchField& field = from.fields[i];
    copy_tensor(field.tensor,
                to.resize_field(i, field.name, field.tensor.dtype, field.tensor.shape));
  }
}

double llc_for_workers(const MachineInfo& machine) {
  constexpr double mib = 1024.0 * 1024.0;
  const double by_cores = 2 * mib * machine.usable_cpus + 32 * mib;
  return machine.llc_bytes ? std::min(*machine.llc_bytes, by_cores) : by_cores;
}

/// Seconds that one sample costs when it is served by a look at its cached fields.
double serving_seconds(std::span<const Sample> samples) {
  Sample look;
  const double begin = monotonic_seconds();
  for (const Sample& sample : samples) look.begin_from(sample);
  return (monotonic_seconds() - begin) / static_cast<double>(samples.size());
}

}  // namespace

struct BoundaryCache::State {
  State(const Pipeline& chain, Device& on, const CopyOptions& options)
      : pipeline(chain), device(on), copy(options) {}

  [[nodiscard]] std::size_t boundaries() const { return pipeline.stages().size() + 1; }
  [[nodiscard]] CacheNeeds needs(const ItemSizes& sizes, const Executor& loader,
                                 const CacheBudget& budget) const;
  void load(Executor& loader, const std::stop_token& stop);
  void fill_device();
  void hash_all();
  [[nodiscard]] std::vector<std::uint64_t> hashes_of(std::size_t boundary) const;
  [[nodiscard]] CacheFacts facts(const ItemSizes& sizes, const CachePlan& plan) const;

  const Pipeline& pipeline;
  Device& device;
  CopyOptions copy;
  std::vector<SampleIndex> indices;
  HostArena arena;
  std::vector<std::vector<Sample>> samples;             // by boundary
  std::vector<BatchStore<HostBatch>> host_batches;      // by boundary
  std::vector<BatchStore<DeviceBatch>> device_batches;  // by boundary
  std::vector<std::vector<std::uint64_t>> hashes;       // by boundary
};

CacheNeeds BoundaryCache::State::needs(const ItemSizes& sizes, const Executor& loader,
                                       const CacheBudget& budget) const {
  const MachineInfo machine = probe_machine();
  const auto batch = static_cast<double>(pipeline.batch_size());
  CacheNeeds needs;
  needs.batch_size = pipeline.batch_size();
  needs.data_set_samples = pipeline.samples();
  needs.llc_bytes = llc_for_workers(machine);
  needs.samples_in_flight = batch * loader.slots();
  needs.seconds_per_sample = sizes.seconds_per_sample;
  for (std::size_t b = 1; b < boundaries(); ++b) {
    const bool on_host = pipeline.held(b) == Held::host;
    double& largest = on_host ? needs.largest_host_item_bytes : needs.largest_device_item_bytes;
    largest = std::max(largest, sizes.bytes[b]);
    // Memory of the cpu device is the host's; that of the emulated one takes no room anywhere.
    double& sum = on_host || device.kind() == DeviceKind::cpu ? needs.host_bytes_per_sample
                                                              : needs.device_bytes_per_sample;
    sum += sizes.bytes[b];
    if (b <= pipeline.collate_position()) {
      const auto fields = static_cast<double>(pipeline.stages()[b - 1].output.size());
      needs.host_bytes_per_sample += sizeof(Sample) + fields * sizeof(Sample::NamedField);
    }
  }
  needs.host_budget_bytes = budget.host_bytes.value_or(0.25 * machine.memory_available_bytes);
  if (device.kind() == DeviceKind::cuda) {
    const DeviceInfo& info = device.info();
    needs.device_budget_bytes = budget.device_bytes;
    if (!needs.device_budget_bytes && info.free_bytes) {
      needs.device_budget_bytes = 0.1 * static_cast<double>(*info.free_bytes);
    }
    if (info.l2_bytes) needs.device_l2_bytes = static_cast<double>(*info.l2_bytes);
  } else {
    needs.device_budget_bytes = budget.device_bytes;
  }
  return needs;
}

void BoundaryCache::State::load(Executor& loader, const std::stop_token& stop) {
  const std::size_t batches = indices.size() / static_cast<std::size_t>(pipeline.batch_size());
  samples.clear();
  samples.resize(boundaries());
  host_batches.clear();
  host_batches.resize(boundaries());
  for (std::size_t b = 1; b <= pipeline.copy_position(); ++b) {
    if (b <= pipeline.collate_position()) {
      samples[b].resize(indices.size());
    } else {
      host_batches[b].resize(batches, device.slot_memory(copy.pinned));
    }
  }
  LoadPlan plan;
  plan.indices = indices;
  plan.observe = false;
  // Workers run ahead into the list's second round, which is not for us.
  plan.on_sample = [this](std::size_t stage, std::uint64_t position, const Sample& sample) {
    if (position < indices.size()) store_sample(sample, samples[stage][position], arena);
  };
  plan.on_batch = [this](std::size_t stage, std::uint64_t sequence, const HostBatch& batch) {
    auto& owned = host_batches[stage].owned;
    if (sequence < owned.size()) copy_host_batch(batch, owned[sequence]);
  };
  {
    const LoadGuard running(loader, plan);
    for (std::size_t i = 0; i < batches; ++i) loader.release(loader.next(stop), nullptr);
  }
  for (BatchStore<HostBatch>& store : host_batches) store.seal();
}

void BoundaryCache::State::fill_device() {
  const auto& stages = pipeline.stages();
  const std::size_t copied = pipeline.copy_position() + 1;
  const std::vector<HostBatch>& host = host_batches[pipeline.copy_position()].looks;
  device_batches.clear();
  device_batches.resize(boundaries());
  const std::unique_ptr<Stream> stream = device.make_stream();
  for (std::size_t b = copied; b < boundaries(); ++b) {
    device_batches[b].resize(host.size(), device.device_memory());
    for (std::size_t i = 0; i < host.size(); ++i) {
      OwnedDeviceBatch& out = device_batches[b].owned[i];
      if (b == copied) {
        copy_batch(host[i], out, device, *stream, true);
      } else {
        run_device_stage(dynamic_cast<const DeviceStage&>(*stages[b - 1].stage), stages[b - 1].name,
                         device_batches[b - 1].owned[i].batch, out, device, *stream);
      }
    }
  }
  const std::unique_ptr<Event> done = device.make_event();
  device.record(*done, *stream);
  device.synchronize(*done);
  for (BatchStore<DeviceBatch>& store : device_batches) store.seal();
}

std::vector<std::uint64_t> BoundaryCache::State::hashes_of(std::size_t boundary) const {
  std::vector<std::uint64_t> all;
  if (pipeline.held(boundary) == Held::device) {
    if (device.kind() != DeviceKind::cpu) return all;
    for (const DeviceBatch& batch : device_batches[boundary].looks) {
      all.push_back(content_hash(batch));
    }
    return all;
  }
  for (const Sample& sample : samples[boundary]) all.push_back(content_hash(sample));
  for (const HostBatch& batch : host_batches[boundary].looks) all.push_back(content_hash(batch));
  return all;
}

void BoundaryCache::State::hash_all() {
  hashes.assign(boundaries(), {});
  for (std::size_t b = 1; b < boundaries(); ++b) hashes[b] = hashes_of(b);
}

CacheFacts BoundaryCache::State::facts(const ItemSizes& sizes, const CachePlan& plan) const {
  CacheFacts facts;
  facts.samples = plan.samples;
  facts.limited_by = plan.limited_by;
  facts.item_bytes = sizes.bytes;
  facts.serve_seconds_per_sample.assign(boundaries(), 0);
  facts.bytes_host = static_cast<double>(arena.bytes());
  const auto count = static_cast<double>(indices.size());
  for (std::size_t b = 1; b < boundaries(); ++b) {
    double bytes = 0;
    for (const Sample& sample : samples[b]) bytes += static_cast<double>(sample.byte_size());
    for (const auto& batch : host_batches[b].owned) {
      bytes += static_cast<double>(batch.batch.byte_size());
      facts.bytes_host += static_cast<double>(batch.capacity());
    }
    for (const auto& batch : device_batches[b].owned) {
      bytes += static_cast<double>(batch.batch.byte_size());
      facts.bytes_device += static_cast<double>(batch.capacity());
    }
    facts.item_bytes[b] = bytes / count;
    // Batches are handed over by pointer, at no cost a sample.
    if (!samples[b].empty()) facts.serve_seconds_per_sample[b] = serving_seconds(samples[b]);
  }
  return facts;
}

BoundaryCache::BoundaryCache(const Pipeline& pipeline, Device& device, const CopyOptions& copy)
    : state_(std::make_unique<State>(pipeline, device, copy)) {}

BoundaryCache::~BoundaryCache() = default;

CacheFacts BoundaryCache::fill(Executor& loader, const CacheBudget& budget,
                               const std::stop_token& stop) {
  const double begin = monotonic_seconds();
  auto fresh = std::make_unique<State>(state_->pipeline, state_->device, state_->copy);
  state_.swap(fresh);
  fresh.reset();  // what was cached before makes room first
  State& s = *state_;
  constexpr std::uint64_t probe_batches = 2;
  const auto batch = static_cast<std::uint64_t>(s.pipeline.batch_size());
  const std::vector<SampleIndex> probe = first_indices(s.pipeline, probe_batches * batch);
  const ItemSizes sizes = probe_items(s.pipeline, s.device, loader, probe, stop);
  const CachePlan plan = plan_cache(s.needs(sizes, loader, budget));
  s.indices = first_indices(s.pipeline, plan.samples);
  s.load(loader, stop);
  s.fill_device();
  s.hash_all();
  CacheFacts facts = s.facts(sizes, plan);
  facts.seconds = monotonic_seconds() - begin;
  return facts;
}

bool BoundaryCache::filled() const noexcept { return !state_->hashes.empty(); }

std::uint64_t BoundaryCache::samples() const noexcept { return state_->indices.size(); }

std::span<const SampleIndex> BoundaryCache::indices() const noexcept { return state_->indices; }

HostCacheView BoundaryCache::host(std::size_t boundary) const {
  return {state_->samples.at(boundary), state_->host_batches.at(boundary).looks};
}

std::span<const DeviceBatch> BoundaryCache::device(std::size_t boundary) const {
  return state_->device_batches.at(boundary).looks;
}

bool BoundaryCache::intact(std::size_t boundary) const {
  return state_->hashes_of(boundary) == state_->hashes.at(boundary);
}

void BoundaryCache::protect(bool read_only) { state_->arena.protect(read_only); }

}  // namespace cachebisect
