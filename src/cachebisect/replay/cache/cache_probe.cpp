#include "cachebisect/replay/cache/cache_probe.hpp"

#include <atomic>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/executor/load_guard.hpp"
#include "cachebisect/replay/loop/device_chain.hpp"

namespace cachebisect {
namespace {

/// Bytes at the boundaries on the device, measured on one host batch.
void measure_device(const Pipeline& pipeline, Device& device, const HostBatch& host,
                    std::vector<double>& bytes) {
  const auto& stages = pipeline.stages();
  const auto samples = static_cast<double>(host.size);
  Stream& stream = device.compute_stream();
  std::vector<OwnedDeviceBatch> chain;
  chain.reserve(stages.size());
  for (std::size_t i = pipeline.copy_position(); i < stages.size(); ++i) {
    OwnedDeviceBatch& out = chain.emplace_back(device.device_memory());
    if (i == pipeline.copy_position()) {
      copy_batch(host, out, device, stream, true);
    } else {
      run_device_stage(stages[i], pipeline.spec().seed, chain[chain.size() - 2].batch, out, device,
                       stream);
    }
    bytes[i + 1] = static_cast<double>(out.batch.byte_size()) / samples;
  }
  const std::unique_ptr<Event> done = device.make_event();
  device.record(*done, stream);
  device.synchronize(*done);
}

}  // namespace

ItemSizes probe_items(const Pipeline& pipeline, Device& device, Executor& loader,
                      std::span<const SampleIndex> indices, const std::stop_token& stop) {
  const std::size_t boundaries = pipeline.stages().size() + 1;
  std::vector<std::atomic<std::uint64_t>> bytes(boundaries);
  std::vector<std::atomic<std::uint64_t>> counts(boundaries);
  LoadRequest request;
  request.indices = indices;
  request.observe = false;
  request.on_sample = [&](std::size_t stage, std::uint64_t /*position*/, const Sample& sample) {
    bytes[stage].fetch_add(sample.byte_size(), std::memory_order_relaxed);
    counts[stage].fetch_add(1, std::memory_order_relaxed);
  };
  request.on_batch = [&](std::size_t stage, std::uint64_t /*sequence*/, const HostBatch& batch) {
    bytes[stage].fetch_add(batch.byte_size(), std::memory_order_relaxed);
    counts[stage].fetch_add(static_cast<std::uint64_t>(batch.size), std::memory_order_relaxed);
  };
  ItemSizes sizes;
  sizes.bytes.assign(boundaries, 0);
  const auto batches = indices.size() / static_cast<std::size_t>(pipeline.batch_size());
  double loading = 0;
  {
    const LoadGuard running(loader, request);
    for (std::size_t i = 0; i < batches; ++i) {
      const double begin = monotonic_seconds();
      const ReadyBatch ready = loader.next(stop);
      loading += monotonic_seconds() - begin;
      if (i == 0) measure_device(pipeline, device, *ready.batch, sizes.bytes);
      loader.release(ready, nullptr);
    }
  }
  for (std::size_t b = 1; b <= pipeline.copy_position(); ++b) {
    const auto count = static_cast<double>(counts[b].load());
    if (count > 0) sizes.bytes[b] = static_cast<double>(bytes[b].load()) / count;
  }
  sizes.seconds_per_sample = loading / static_cast<double>(indices.size());
  return sizes;
}

}  // namespace cachebisect
