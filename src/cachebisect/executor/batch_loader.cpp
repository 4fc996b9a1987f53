#include "cachebisect/executor/batch_loader.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/pace.hpp"
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
      has_workers_(options.workers > 0),
      grain_(grain_of(options, pipeline.batch_size())),
      grains_((pipeline.batch_size() + grain_ - 1) / grain_),
      sampler_(sampler_of(pipeline)),
      grouped_(grouped_order_of(pipeline)),
      layouts_(row_layouts(pipeline)),
      ring_(fitting_slots(pipeline, options), pipeline, device.slot_memory(options.pinned)) {
  LoaderTraits traits{measure_probe_clocks(), options.observation_budget, ring_.size()};
  for (; traits.number < static_cast<std::uint64_t>(std::max(options.workers, 1));
       ++traits.number) {
    loaders_.push_back(std::make_unique<SampleLoader>(pipeline_, layouts_, skipped_, traits));
  }
  claims_.resize(loaders_.size());
}

void BatchLoader::begin_run(const LoadRequest& request) {
  program_ = LoadProgram(pipeline_, sampler_, request, grouped_.get());
  first_batch_ = 0;
  ring_.reset(static_cast<std::int32_t>(per_batch()));
  for (std::size_t i = 0; i < loaders_.size(); ++i) {
    loaders_[i]->begin_run(program_);
    claims_[i] = {.next = i};
  }
  skipped_.begin_run();
  claim_ = 0;
  paused_at_ = 0;
  stopping_ = false;
}

void BatchLoader::go_on(const LoadRequest& request, std::uint64_t next) {
  charge();
  first_batch_ = has_workers_ && !by_pointer() ? first_incomplete() : next;
  program_ = LoadProgram(pipeline_, sampler_, request, grouped_.get());
  ring_.unhold();
  for (const auto& loader : loaders_) loader->begin_run(program_);
  skipped_.begin_run();
  paused_at_ = 0;
  stopping_ = false;
}

void BatchLoader::charge() {
  std::vector<double> saved;
  for (const Claim& claim : claims_) {
    if (const auto seconds = claim.turn.saved()) saved.push_back(*seconds);
  }
  // A single worker queues behind nobody.
  if (claims_.size() > 1) queueing_.add(saved);
  for (Claim& claim : claims_) claim.turn.charge(queueing_.seconds());
}

std::uint64_t BatchLoader::first_incomplete() const noexcept {
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
  if (kind_ == LoaderKind::sample) first = claim_ / per_batch();
  for (const Claim& claim : claims_) {
    if (kind_ == LoaderKind::batch) first = std::min(first, claim.next);
    if (claim.held) first = std::min(first, claim.ticket / per_batch());
  }
  return first;
}

void BatchLoader::claim(Claim& claim) noexcept {
  if (claim.held) return;
  claim.held = true;
  claim.loaded = 0;
  claim.ticket = kind_ == LoaderKind::sample
                     ? claim_.fetch_add(1, std::memory_order_relaxed)
                     : std::exchange(claim.next, claim.next + loaders_.size());
}

void BatchLoader::load_until_stopped(std::size_t number) {
  Claim& claimed = claims_[number];
  if (!settle(*loaders_[number], claimed)) return;
  claimed.turn.begin(monotonic_seconds());
  const bool worked = load(*loaders_[number], claimed);
  claimed.turn.end(monotonic_seconds(), paused_at_, worked);
}

bool BatchLoader::settle(SampleLoader& loader, Claim& claimed) {
  if (!pay(claimed.turn.overtime_debt())) return false;
  if (claimed.held && !by_batch()) {
    const std::uint64_t batch = claimed.ticket / per_batch();
    BatchSlot* slot = ring_.try_acquire(batch, device_);
    if (slot != nullptr && left_of(claimed) <= 0) finish_grain(loader, *slot, claimed);
  }
  return pay(claimed.turn.queueing_debt());
}

bool BatchLoader::pay(double& debt) {
  constexpr double kSlice = 0.02;  // seconds until a stop is noticed
  if (debt < PaceTimeline::kWorthSleeping) return true;
  double now = monotonic_seconds();
  const double due = now + debt;
  while (now < due && !stopping_.load(std::memory_order_relaxed)) {
    sleep_until(std::min(due, now + kSlice));
    now = monotonic_seconds();
  }
  debt = due - now;
  return now >= due;
}

bool BatchLoader::load(SampleLoader& loader, Claim& claimed) {
  const bool whole = by_batch();
  const std::uint64_t grains = per_batch();
  while (!stopping_.load(std::memory_order_relaxed)) {
    claim(claimed);
    const std::uint64_t batch = claimed.ticket / grains;
    if (batch - first_batch_ >= program_.request().batches) return false;
    double waited = 0;
    BatchSlot* slot = ring_.acquire(batch, device_, waited);
    if (waited > 0) {
      claimed.turn.exclude(waited);
      if (WorkerPace* const pace = PaceOfThread::current()) pace->rested(waited);
      record_wait(loader.record(), waited, batch);
    }
    if (slot == nullptr) return false;
    if (!whole && !load_grain(loader, *slot, claimed)) return true;
    finish_grain(loader, *slot, claimed);
  }
  return true;
}

void BatchLoader::finish_grain(SampleLoader& loader, BatchSlot& slot, Claim& claim) {
  claim.held = false;
  if (slot.remaining.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const double began = monotonic_seconds();
  complete(loader, slot, claim.ticket / per_batch());
  claim.turn.exclude(monotonic_seconds() - began);
}

void BatchLoader::load_batch(std::uint64_t sequence) {
  BatchSlot* slot = ring_.try_acquire(sequence, device_);
  if (slot == nullptr) {
    if (stopping_) throw Error(ErrorKind::interrupted, "stopped");
    throw Error(ErrorKind::internal, "no slot is free: release batches before asking for more");
  }
  SampleLoader& loader = *loaders_.front();
  for (std::uint64_t number = 0; number < per_batch() && !by_batch(); ++number) {
    Claim grain{.ticket = sequence * per_batch() + number};
    load_grain(loader, *slot, grain);
  }
  if (stopping_) throw Error(ErrorKind::interrupted, "stopped");
  complete(loader, *slot, sequence);
}

void BatchLoader::complete(SampleLoader& loader, BatchSlot& slot, std::uint64_t batch) {
  loader.finish(slot, batch - first_batch_, range(batch).size);
  record_publish(loader.record(), batch);
  ring_.publish(batch);
}

std::int64_t BatchLoader::left_of(const Claim& claim) const noexcept {
  const auto number = static_cast<std::int64_t>(claim.ticket % per_batch());
  const std::int64_t size = range(claim.ticket / per_batch()).size;
  return std::min((number + 1) * grain_, size) - number * grain_ - claim.loaded;
}

bool BatchLoader::load_grain(SampleLoader& loader, BatchSlot& slot, Claim& claim) const {
  const BatchRange whole = range(claim.ticket / per_batch());
  const std::int64_t left = left_of(claim);
  if (left <= 0) return true;
  const auto number = static_cast<std::int64_t>(claim.ticket % per_batch());
  const std::int64_t begin = number * grain_ + claim.loaded;
  const std::int64_t end = begin + left;
  std::uint64_t position = whole.first_position + static_cast<std::uint64_t>(begin);
  LoadCursor at = program_.cursor(position);
  std::int64_t row = begin;
  for (; row < end && !stopping_.load(std::memory_order_relaxed); ++row) {
    loader.load(slot, row, at, position);
    at.advance();
    ++position;
    ++claim.loaded;
    count_sample(claim);
  }
  loader.count(row - begin);
  return row == end && !stopping_.load(std::memory_order_relaxed);
}

void BatchLoader::count_sample(Claim& claim) noexcept {
  if (claim.turn.count_sample()) claim.turn.end_early(monotonic_seconds());
}

void BatchLoader::stop() noexcept {
  stopping_ = true;
  ring_.stop();
}

void BatchLoader::pause() noexcept {
  paused_at_ = monotonic_seconds();
  stopping_ = true;
  ring_.hold();
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
