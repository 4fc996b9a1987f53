// What each worker did, and when: for profiles. Nothing is recorded unless a request asks for it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <unistd.h>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/export.hpp"
#include "cachebisect/base/record_buffer.hpp"

namespace cachebisect {

enum class LoadWork : std::uint8_t {
  stage,       ///< a stage ran: on a sample, or on a batch (collate, batch stages)
  slot_write,  ///< a sample was written into its batch slot
  slot_wait,   ///< the worker waited for a free slot: the ring is full
  publish      ///< an instant: a batch became ready
};

/// Seconds of the monotonic clock.
struct LoadSpan {
  double begin = 0;
  double end = 0;
  std::uint64_t item = 0;   ///< position of the sample, or sequence number of the batch
  std::uint32_t stage = 0;  ///< 0-based, of LoadWork::stage
  LoadWork work = LoadWork::stage;
};

/// The record of one worker, which alone calls begin() to add().
class WorkerRecord {
 public:
  WorkerRecord(std::size_t capacity, const std::atomic<bool>& on) : on_(&on), spans_(capacity) {}

  [[nodiscard]] bool is_on() const noexcept { return on_->load(std::memory_order_relaxed); }
  /// Before something that ends in lap(); false if it is not to be recorded.
  [[nodiscard]] bool begin() noexcept {
    if (!is_on()) return false;
    if (thread_ == 0) thread_ = gettid();
    last_ = monotonic_seconds();
    return true;
  }
  /// Since begin() or the last lap().
  void lap(LoadWork work, std::size_t stage, std::uint64_t item) noexcept {
    const double now = monotonic_seconds();
    spans_.add({last_, now, item, static_cast<std::uint32_t>(stage), work});
    last_ = now;
  }
  void add(const LoadSpan& span) noexcept {
    if (is_on()) spans_.add(span);
  }

  /// The worker's thread id in the system; 0 before anything was recorded.
  [[nodiscard]] pid_t thread() const noexcept { return thread_; }
  [[nodiscard]] const RecordBuffer<LoadSpan>& spans() const noexcept { return spans_; }
  void clear() noexcept { spans_.clear(); }

 private:
  const std::atomic<bool>* on_;
  double last_ = 0;
  pid_t thread_ = 0;
  RecordBuffer<LoadSpan> spans_;
};

/// The records of all workers of an executor; without workers, that of the training thread.
class CACHEBISECT_INTERNAL_API LoadRecorder {
 public:
  /// `capacity`: spans per worker.
  LoadRecorder(int workers, std::size_t capacity);

  /// Begins or ends recording. Any thread; what is under way then is not recorded whole.
  void set_on(bool on) noexcept { on_.store(on, std::memory_order_relaxed); }
  [[nodiscard]] WorkerRecord& worker(std::size_t number) noexcept { return *workers_[number]; }

  /// The following only while no worker runs.
  [[nodiscard]] std::size_t size() const noexcept { return workers_.size(); }
  [[nodiscard]] const WorkerRecord& worker(std::size_t number) const noexcept {
    return *workers_[number];
  }
  [[nodiscard]] std::uint64_t dropped() const noexcept;
  void clear() noexcept;

 private:
  std::atomic<bool> on_{false};
  std::vector<std::unique_ptr<WorkerRecord>> workers_;
};

}  // namespace cachebisect
