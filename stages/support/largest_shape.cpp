#include "stages/support/largest_shape.hpp"

#include <algorithm>
#include <cstddef>

#include "cachebisect/base/error.hpp"

namespace cachebisect::stages {
namespace {

void enlarge(Shape& largest, const Shape& shape) {
  for (std::size_t axis = 0; axis < largest.rank(); ++axis)
    largest[axis] = std::max(largest[axis], shape[axis]);
}

[[noreturn]] void refuse_pair(const std::string& name, const Sample& a, const Sample& b) {
  const auto describe = [&](const Sample& sample) {
    const Field& field = sample.field(name);
    return "sample " + std::to_string(sample.index().value) + " has " +
           std::string(to_string(field.dtype())) + " " + field.shape().to_string();
  };
  throw Error(ErrorKind::data, "field '" + name + "' cannot be padded: " + describe(a) + ", " +
                                   describe(b) +
                                   "; dtype and number of dimensions must be equal within a batch");
}

}  // namespace

void require_one_kind(const std::string& name, std::span<const Sample> samples) {
  const Field& first = samples.front().field(name);
  for (const Sample& sample : samples) {
    const Field& field = sample.field(name);
    if (field.dtype() != first.dtype() || field.shape().rank() != first.shape().rank())
      refuse_pair(name, samples.front(), sample);
  }
}

Shape largest_shape(const std::string& name, std::span<const Sample> samples) {
  require_one_kind(name, samples);
  Shape largest = samples.front().field(name).shape();
  for (const Sample& sample : samples) enlarge(largest, sample.field(name).shape());
  return largest;
}

Shape largest_shape(std::span<const Shape> shapes) {
  Shape largest = shapes.front();
  for (const Shape& shape : shapes) enlarge(largest, shape);
  return largest;
}

}  // namespace cachebisect::stages
