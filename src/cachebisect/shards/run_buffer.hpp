// Keeps the bytes of runs of samples, each read at once, for the threads that need them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect::shards {

/// A run is read by the first thread that asks for it; others wait for it. The run that was read
/// first makes room. Thread safe; what is there is found without a lock, and nothing is allocated
/// once every slot has held its largest run.
class CACHEBISECT_INTERNAL_API RunBuffer {
 public:
  /// Replaces the bytes by those of the run.
  using Read = std::function<void(std::uint64_t run, std::vector<std::byte>& bytes)>;

  /// `runs`: of the whole set. `slots`: how many are kept; more than threads use at once.
  RunBuffer(std::uint64_t runs, std::size_t slots, Read read);

 private:
  struct Slot {
    std::atomic<std::uint64_t> run{kNone};  ///< whose bytes are here, kNone or kReading
    std::atomic<std::uint32_t> users{0};
    std::vector<std::byte> bytes;
  };

 public:
  /// Bytes that stay as they are while this lives.
  class Lease {
   public:
    explicit Lease(Slot& slot) noexcept : slot_(&slot) {}
    Lease(Lease&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
    Lease& operator=(Lease&&) = delete;
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() {
      if (slot_ != nullptr) slot_->users.fetch_sub(1);
    }
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return slot_->bytes; }

   private:
    Slot* slot_;
  };

  /// Throws what reading throws; the next call tries again.
  [[nodiscard]] Lease get(std::uint64_t run);
  /// How many runs were read so far.
  [[nodiscard]] std::uint64_t reads() const noexcept { return reads_; }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  static constexpr std::uint64_t kReading = kNone - 1;
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

  void read(std::uint64_t run);
  /// The slot that makes room; kNowhere if the run has been read or is being read.
  std::uint32_t reserve(std::uint64_t run);

  Read read_;
  std::vector<std::atomic<std::uint32_t>> slot_of_;  ///< by run
  std::vector<Slot> slots_;
  std::mutex mutex_;  ///< guards which slot is next
  std::size_t next_ = 0;
  std::atomic<std::uint64_t> reads_{0};
};

}  // namespace cachebisect::shards
