// Which sample indices have been visited, in memory or in a file that later runs share.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace cachebisect::habits {

/// One bit per index. Thread safe.
class SeenSet {
 public:
  /// For indices below `capacity`. `file`: maps that file, so that what is in it counts as seen and
  /// later sets find it there; empty: starts empty, in memory. Throws Error(data) naming a file
  /// that cannot be mapped.
  explicit SeenSet(std::uint64_t capacity, const std::string& file = "");
  ~SeenSet();
  SeenSet(const SeenSet&) = delete;
  SeenSet& operator=(const SeenSet&) = delete;

  /// True if the index was not in the set. Throws Error(usage) for an index beyond the capacity.
  bool insert(std::uint64_t index);
  /// Indices in the set.
  [[nodiscard]] std::uint64_t count() const noexcept;

 private:
  class Memory;

  std::uint64_t capacity_;
  std::unique_ptr<Memory> memory_;
  std::span<std::uint64_t> words_;
};

}  // namespace cachebisect::habits
