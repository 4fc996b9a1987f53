#include "cachebisect/replay/cache/cache_contents.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/executor/load_guard.hpp"
#include "cachebisect/replay/cache/content_hash.hpp"
#include "cachebisect/replay/cache/field_values.hpp"
#include "cachebisect/replay/cache/grouped_bytes.hpp"
#include "cachebisect/replay/cache/label_check.hpp"
#include "cachebisect/replay/loop/device_chain.hpp"

namespace cachebisect {
namespace {

void copy_host_batch(const HostBatch& from, OwnedHostBatch& to) {
  to.batch.size = from.size;
  to.batch.indices = from.indices;
  to.batch.epoch = from.epoch;
  to.batch.padding_share = from.padding_share;
  for (std::size_t i = 0; i < from.fields.size(); ++i) {
    const BatchField& field = from.fields[i];
    copy_tensor(field.tensor, to.resize_like(i, field));
  }
}

/// Seconds per sample for making a view of its cached fields.
double serving_seconds(std::span<const Sample> samples) {
  Sample view;
  const double begin = monotonic_seconds();
  for (const Sample& sample : samples) view.begin_from(sample);
  return (monotonic_seconds() - begin) / static_cast<double>(samples.size());
}

}  // namespace

bool CacheContents::fill(CacheSamples samples, Executor& loader, const std::stop_token& stop,
                         double sample_bytes) {
  filled_ = false;
  cached_ = std::move(samples);
  hashes_.assign(boundaries(), std::nullopt);
  make_room();
  if (!load(loader, sample_bytes, stop)) return false;
  if (device_.has_data()) check_labels(pipeline_, host_batches_[pipeline_.copy_position()].views);
  fill_device();
  filled_ = true;
  return true;
}

void CacheContents::make_room() {
  arena_.reset();
  const std::size_t batches =
      cached_.indices.size() / static_cast<std::size_t>(pipeline_.batch_size());
  samples_.resize(boundaries());
  host_batches_.resize(boundaries());
  device_batches_.resize(boundaries());
  for (std::size_t b = 1; b <= pipeline_.copy_position(); ++b) {
    if (b <= pipeline_.collate_position()) {
      samples_[b].resize(cached_.indices.size());
    } else {
      host_batches_[b].resize(batches, device_.slot_memory(copy_.pinned));
    }
  }
}

bool CacheContents::load(Executor& loader, double sample_bytes, const std::stop_token& stop) {
  const std::size_t batches =
      cached_.indices.size() / static_cast<std::size_t>(pipeline_.batch_size());
  std::atomic<double> taken{0};
  const auto too_much = [&] { return taken.load(std::memory_order_relaxed) > sample_bytes; };
  LoadRequest request;
  request.indices = cached_.indices;
  request.epoch = cached_.epoch;
  request.batches = batches;
  request.observe = false;
  request.on_sample = [&](std::size_t stage, std::uint64_t position, const Sample& sample) {
    if (too_much()) return;
    taken.fetch_add(static_cast<double>(sample.byte_size()), std::memory_order_relaxed);
    store_sample(sample, samples_[stage][position], arena_);
  };
  request.on_batch = [this](std::size_t stage, std::uint64_t sequence, const HostBatch& batch) {
    auto& owned = host_batches_[stage].owned;
    if (sequence < owned.size()) copy_host_batch(batch, owned[sequence]);
  };
  {
    const LoadGuard running(loader, request);
    for (std::size_t i = 0; i < batches && !too_much(); ++i) {
      loader.release(loader.next(stop), nullptr);
    }
  }
  for (BatchStore<HostBatch>& store : host_batches_) store.seal();
  return !too_much();
}

void CacheContents::fill_device() {
  const auto& stages = pipeline_.stages();
  const std::size_t copied = pipeline_.copy_position() + 1;
  const std::vector<HostBatch>& host = host_batches_[pipeline_.copy_position()].views;
  Stream& stream = device_.compute_stream();
  for (std::size_t b = copied; b < boundaries(); ++b) {
    device_batches_[b].resize(host.size(), device_.device_memory());
    for (std::size_t i = 0; i < host.size(); ++i) {
      OwnedDeviceBatch& out = device_batches_[b].owned[i];
      if (b == copied) {
        copy_batch(host[i], out, device_, stream, true);
      } else {
        run_device_stage(stages[b - 1], pipeline_.spec().seed,
                         device_batches_[b - 1].owned[i].batch, out, device_, stream);
      }
    }
  }
  const std::unique_ptr<Event> done = device_.make_event();
  device_.record(*done, stream);
  device_.synchronize(*done);
  for (BatchStore<DeviceBatch>& store : device_batches_) store.seal();
}

std::vector<std::uint64_t> CacheContents::device_hashes_of(std::size_t boundary) const {
  const std::vector<DeviceBatch>& batches = device_batches_[boundary].views;
  std::vector<std::uint64_t> all;
  if (device_.kind() == DeviceKind::cpu) {
    for (const DeviceBatch& batch : batches) all.push_back(content_hash(batch));
    return all;
  }
  std::vector<ConstTensorView> tensors;
  for (const DeviceBatch& batch : batches) {
    for (const BatchField& field : batch.fields) tensors.emplace_back(field.tensor);
  }
  return device_.checksums(tensors);
}

std::vector<std::uint64_t> CacheContents::hashes_of(std::size_t boundary) const {
  if (pipeline_.held(boundary) == Held::device) return device_hashes_of(boundary);
  std::vector<std::uint64_t> all;
  for (const Sample& sample : samples_[boundary]) all.push_back(content_hash(sample));
  for (const HostBatch& batch : host_batches_[boundary].views) all.push_back(content_hash(batch));
  return all;
}

ContentSizes CacheContents::sizes() const {
  ContentSizes sizes;
  sizes.item_bytes.assign(boundaries(), 0);
  sizes.serve_seconds_per_sample.assign(boundaries(), 0);
  sizes.bytes_host = static_cast<double>(arena_.bytes());
  for (std::size_t b = 1; b < boundaries(); ++b) {
    std::size_t bytes = 0;
    for (const Sample& sample : samples_[b]) bytes += sample.byte_size();
    for (const auto& batch : host_batches_[b].owned) {
      bytes += batch.batch.byte_size();
      sizes.bytes_host += static_cast<double>(batch.capacity());
    }
    for (const auto& batch : device_batches_[b].owned) {
      bytes += batch.batch.byte_size();
      sizes.bytes_device += static_cast<double>(batch.capacity());
    }
    sizes.item_bytes[b] = static_cast<double>(bytes) / static_cast<double>(cached_.indices.size());
    // Batches are handed over by pointer, at no cost per sample.
    if (!samples_[b].empty()) sizes.serve_seconds_per_sample[b] = serving_seconds(samples_[b]);
  }
  const std::vector<Sample>& collated = samples_[pipeline_.collate_position()];
  sizes.fields = field_values(collated);
  sizes.grouped_bytes_share = grouped_bytes_share(pipeline_, collated);
  return sizes;
}

}  // namespace cachebisect
