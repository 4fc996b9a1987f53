// Records of one thread, kept in memory that was reserved and touched beforehand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cachebisect {

/// add() neither allocates nor locks: what does not fit is counted and dropped. One thread at a
/// time.
template <class Record>
class RecordBuffer {
 public:
  explicit RecordBuffer(std::size_t capacity) : records_(capacity) {}

  void add(const Record& record) noexcept {
    if (size_ < records_.size()) {
      records_[size_++] = record;
    } else {
      ++dropped_;
    }
  }
  [[nodiscard]] std::span<const Record> records() const noexcept {
    return {records_.data(), size_};
  }
  /// How many did not fit since clear().
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }
  void clear() noexcept {
    size_ = 0;
    dropped_ = 0;
  }

 private:
  std::vector<Record> records_;
  std::size_t size_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace cachebisect
