#include "cachebisect/executor/batch_loader.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/executor/slot_memory.hpp"

namespace cachebisect {
namespace {

/// Samples per claim.
std::int64_t grain_of(const ExecutorOptions& options, std::int64_t batch) {
  constexpr std::int64_t kLargest = 32;
  if (options.loader == LoaderKind::batch) return batch;
  if (options.grain) return *options.grain;
  const std::int64_t share = batch / 2 / std::max(options.workers, 1);
  return std::clamp<std::int64_t>(share, 1, kLargest);
}

/// True if all of a worker's work is planted, so that the executor's own cost can be absorbed. The
/// training thread, as the worker, also trains, which costs nothing only on the emulated device.
bool all_planted(const Pipeline& pipeline, const Device& device, int workers) {
  const auto& stages = pipeline.stages();
  const auto collate = static_cast<std::ptrdiff_t>(pipeline.collate_position());
  return pipeline.copy_position() == pipeline.collate_position() + 1 &&
         std::all_of(stages.begin(), stages.begin() + collate,
                     [](const ChainStage& stage) { return stage.traits.planted; }) &&
         (workers > 0 || device.kind() == DeviceKind::emulated);
}

const ExecutorOptions& checked(const ExecutorOptions& options) {
  if (options.workers < 0 || options.prefetch < 0 || (options.grain && *options.grain < 1)) {
    throw Error(ErrorKind::usage, "an executor of " + std::to_string(options.workers) +
                                      " workers and prefetch " + std::to_string(options.prefetch) +
                                      "; both must be 0 or more, and the grain 1 or more");
  }
  if (options.grain && options.loader == LoaderKind::batch) {
    throw Error(ErrorKind::usage, "an executor whose workers load whole batches has no grain");
  }
  if (!(options.observation_budget > 0)) {
    throw Error(ErrorKind::usage, "an executor's observation budget of " +
                                      format_exact(options.observation_budget) +
                                      "; it must be above 0");
  }
  return options;
}

/// The number of slots, which fit into memory.
std::size_t fitting_slots(const Pipeline& pipeline, const ExecutorOptions& options) {
  const auto slots = static_cast<std::size_t>(options.workers + options.prefetch + 1);
  check_slot_memory({slots, pipeline.batch_size(), slot_bytes_per_sample(pipeline)},
                    available_memory().available_bytes);
  return slots;
}

/// Until now.
void record_wait(WorkerRecord* record, double seconds, std::uint64_t batch) noexcept {
  if (record == nullptr) return;
  const double now = monotonic_seconds();
  record->add({now - seconds, now, batch, 0, LoadWork::slot_wait});
}

void record_publish(WorkerRecord* record, std::uint64_t batch) noexcept {
  if (record == nullptr) return;
  const double now = monotonic_seconds();
  record->add({now, now, batch, 0, LoadWork::publish});
}

}  // namespace

BatchLoader::BatchLoader(const Pipeline& pipeline, Device& device, const ExecutorOptions& options)
    : pipeline_(pipeline),
      device_(device),
      kind_(checked(options).loader),
      grain_(grain_of(options, pipeline.batch_size())),
      grains_((pipeline.batch_size() + grain_ - 1) / grain_),
      sampler_(pipeline.samples(), pipeline.spec().seed, pipeline.spec().shuffle),
      layouts_(row_layouts(pipeline)),
      ring_(fitting_slots(pipeline, options), pipeline, device.slot_memory(options.pinned)) {
  LoaderTraits traits{all_planted(pipeline, device, options.workers), measure_probe_clocks(),
                      options.observation_budget, ring_.size()};
  for (; traits.number < static_cast<std::uint64_t>(std::max(options.workers, 1));
       ++traits.number) {
    loaders_.push_back(std::make_unique<SampleLoader>(pipeline_, layouts_, skipped_, traits));
  }
}

void BatchLoader::begin_run(const LoadRequest& request) {
  program_ = LoadProgram(pipeline_, sampler_, request);
  ring_.reset(by_batch() ? 1 : static_cast<std::int32_t>(grains_));
  for (const auto& loader : loaders_) loader->begin_run(program_);
  skipped_.begin_run();
  claim_ = 0;
  stopping_ = false;
}

std::uint64_t BatchLoader::claim(std::uint64_t& own) noexcept {
  if (kind_ == LoaderKind::sample) return claim_.fetch_add(1, std::memory_order_relaxed);
  return std::exchange(own, own + loaders_.size());
}

void BatchLoader::load_until_stopped(std::size_t number) {
  SampleLoader& loader = *loaders_[number];
  const bool whole = by_batch();
  const auto per_batch = static_cast<std::uint64_t>(whole ? 1 : grains_);
  std::uint64_t own = number;
  while (!stopping_.load(std::memory_order_relaxed)) {
    const std::uint64_t ticket = claim(own);
    const std::uint64_t batch = ticket / per_batch;
    if (batch >= program_.request().batches) return;
    double waited = 0;
    BatchSlot* slot = ring_.acquire(batch, device_, waited);
    if (waited > 0) {
      loader.rested(waited);
      record_wait(loader.record(), waited, batch);
    }
    if (slot == nullptr) return;
    if (!whole) {
      load_grain(loader, *slot, batch, static_cast<std::int64_t>(ticket % per_batch));
      if (stopping_.load(std::memory_order_relaxed)) return;
    }
    if (slot->remaining.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
    loader.finish(*slot, batch, program_.range(batch).size);
    record_publish(loader.record(), batch);
    ring_.publish(batch);
  }
}

void BatchLoader::load_batch(std::uint64_t sequence) {
  BatchSlot* slot = ring_.try_acquire(sequence, device_);
  if (slot == nullptr) {
    if (stopping_) throw Error(ErrorKind::interrupted, "stopped");
    throw Error(ErrorKind::internal, "no slot is free: release batches before asking for more");
  }
  SampleLoader& loader = *loaders_.front();
  if (!by_batch()) {
    for (std::int64_t number = 0; number < grains_; ++number) {
      load_grain(loader, *slot, sequence, number);
    }
  }
  if (stopping_) throw Error(ErrorKind::interrupted, "stopped");
  loader.finish(*slot, sequence, program_.range(sequence).size);
  record_publish(loader.record(), sequence);
  ring_.publish(sequence);
}

void BatchLoader::load_grain(SampleLoader& loader, BatchSlot& slot, std::uint64_t batch,
                             std::int64_t number) const {
  const BatchRange range = program_.range(batch);
  const std::int64_t begin = number * grain_;
  const std::int64_t end = std::min(begin + grain_, range.size);
  if (begin >= end) return;
  std::uint64_t position = range.first_position + static_cast<std::uint64_t>(begin);
  LoadCursor at = program_.cursor(position);
  for (std::int64_t row = begin; row < end; ++row) {
    if (stopping_.load(std::memory_order_relaxed)) return;
    loader.load(slot, row, at, position);
    at.advance();
    ++position;
  }
  loader.count(end - begin);
}

void BatchLoader::stop() noexcept {
  stopping_ = true;
  ring_.stop();
}

LoadCounters BatchLoader::counters() const {
  LoadCounters counters;
  counters.stages.resize(pipeline_.stages().size());
  for (const auto& loader : loaders_) loader->add_to(counters);
  skipped_.report(counters.skipped, counters.first_skipped);
  return counters;
}

std::size_t BatchLoader::capacity() const noexcept {
  std::size_t bytes = ring_.capacity();
  for (const auto& loader : loaders_) bytes += loader->capacity();
  return bytes;
}

}  // namespace cachebisect
