// Labels of windows of arrays: whole numbers, one for each item or one for each sample.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stages/datasets/array_box.hpp"
#include "stages/datasets/window_grid.hpp"

#include "cachebisect/data/dtype.hpp"
#include "cachebisect/data/shape.hpp"
#include "cachebisect/pipeline/open_context.hpp"

namespace cachebisect::stages {

/// An array with labels, as its format reads it.
struct LabelArray {
  std::string what;  ///< in messages: `train.h5: the data set "labels"`
  DType dtype = DType::int64;
  Shape shape;
  std::int64_t piece = 1;  ///< how many are read at once
  /// Fills `out` with the elements of the box, of `dtype`.
  std::function<void(const ArrayBox& box, std::span<std::byte> out)> read;
};

/// Thread safe.
class WindowLabels {
 public:
  WindowLabels() = default;  ///< none
  /// Reads those of `open()`, once for all variants of a pipeline. `key`: everything that they
  /// depend on other than the grid. Throws Error(usage) that names the array if they are no whole
  /// numbers or not as many as items or samples, and what reading throws.
  WindowLabels(const std::function<LabelArray()>& open, const std::string& key,
               const WindowGrid& grid, const OpenContext& context);

  [[nodiscard]] bool empty() const noexcept { return !numbers_; }
  /// The label of the sample with this index.
  [[nodiscard]] std::int64_t of(std::uint64_t index) const {
    return (*numbers_)[index / samples_per_number_];
  }

 private:
  std::shared_ptr<const std::vector<std::int64_t>> numbers_;
  std::uint64_t samples_per_number_ = 1;
};

}  // namespace cachebisect::stages
