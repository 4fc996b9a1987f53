// Rows of a table in one piece of memory: what a sharded source keeps of a row group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace cachebisect::stages {

/// Where labels and values of rows lie:
///
///     label of each row (int64) | end of each value (uint64), if their lengths differ | values
class RowBlock {
 public:
  /// `value_bytes`: of each row; 0: they differ.
  constexpr RowBlock(std::uint64_t rows, bool has_labels, std::uint64_t value_bytes) noexcept
      : rows_(rows), has_labels_(has_labels), value_bytes_(value_bytes) {}

  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }
  [[nodiscard]] bool has_labels() const noexcept { return has_labels_; }
  [[nodiscard]] bool is_fixed() const noexcept { return value_bytes_ > 0; }
  [[nodiscard]] std::uint64_t value_bytes() const noexcept { return value_bytes_; }
  /// What comes before the values.
  [[nodiscard]] std::uint64_t head_bytes() const noexcept {
    return kNumberBytes * (has_labels_ ? rows_ : 0) + kNumberBytes * (is_fixed() ? 0 : rows_);
  }
  /// What all takes if values are of one length; else the head.
  [[nodiscard]] std::uint64_t least_bytes() const noexcept {
    return head_bytes() + rows_ * value_bytes_;
  }

  static void set_label(std::span<std::byte> block, std::uint64_t row,
                        std::int64_t label) noexcept {
    std::memcpy(block.data() + row * kNumberBytes, &label, sizeof label);
  }
  /// `end`: of the value in the block.
  void set_end(std::span<std::byte> block, std::uint64_t row, std::uint64_t end) const noexcept {
    std::memcpy(block.data() + end_at(row), &end, sizeof end);
  }
  [[nodiscard]] static std::int64_t label(std::span<const std::byte> block,
                                          std::uint64_t row) noexcept {
    std::int64_t label = 0;
    std::memcpy(&label, block.data() + row * kNumberBytes, sizeof label);
    return label;
  }
  [[nodiscard]] std::span<const std::byte> value(std::span<const std::byte> block,
                                                 std::uint64_t row) const noexcept {
    if (is_fixed()) return block.subspan(head_bytes() + row * value_bytes_, value_bytes_);
    const std::uint64_t begin = row == 0 ? head_bytes() : end_of(block, row - 1);
    return block.subspan(begin, end_of(block, row) - begin);
  }

 private:
  static constexpr std::uint64_t kNumberBytes = 8;

  [[nodiscard]] std::uint64_t end_at(std::uint64_t row) const noexcept {
    return kNumberBytes * ((has_labels_ ? rows_ : 0) + row);
  }
  [[nodiscard]] std::uint64_t end_of(std::span<const std::byte> block,
                                     std::uint64_t row) const noexcept {
    std::uint64_t end = 0;
    std::memcpy(&end, block.data() + end_at(row), sizeof end);
    return end;
  }

  std::uint64_t rows_;
  bool has_labels_;
  std::uint64_t value_bytes_;
};

}  // namespace cachebisect::stages
