// An array in a file, of which boxes are read: what a format must offer for its windows.
#pragma once

#include <cstddef>
#include <vector>

#include "stages/datasets/array_box.hpp"
#include "stages/datasets/stored_values.hpp"

#include "cachebisect/data/shape.hpp"
#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect::stages {

/// Opened for reading. Thread safe.
class StoredArray {
 public:
  struct Facts {
    StoredType type = StoredType::uint8;
    Shape shape;  ///< one to six axes, nothing is empty; unlimited ones as long as was written
    PackingAttributes attributes;
  };

  StoredArray() = default;
  StoredArray(const StoredArray&) = delete;
  StoredArray& operator=(const StoredArray&) = delete;
  virtual ~StoredArray() = default;

  [[nodiscard]] const Facts& facts() const noexcept { return facts_; }
  /// Writes the elements of `box` to `out` as they are stored, densely and in this machine's byte
  /// order. Returns the seconds during which no other thread could read. Throws Error(data) that
  /// names the file.
  virtual double read(const ArrayBox& box, std::byte* out) const = 0;
  /// Where the elements of `box` are; the whole file if that is not known, and none of its bytes
  /// for what was never written.
  [[nodiscard]] virtual std::vector<FileRange> files(const ArrayBox& box) const = 0;

 protected:
  Facts facts_;
};

}  // namespace cachebisect::stages
