// Batches: on the host in a ring slot, and on the device, ready for the training step.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/data/memory.hpp"
#include "cachebisect/data/sample.hpp"
#include "cachebisect/data/tensor_view.hpp"

namespace cachebisect {

/// A field of a batch; the shape's first dimension is the batch size. Dimensions in which samples
/// differ are kDynamic.
using BatchSpec = std::vector<FieldSpec>;

/// One field of a batch: a dense tensor, in memory that the batch's owner keeps.
struct BatchField {
  std::string name;
  TensorView tensor;
  /// Of a ragged field: the shape of each sample. Their values lie end to end in [batch size, ...];
  /// what is left of that are zeros. Empty: samples of one shape.
  std::vector<Shape> sample_shapes{};
};

/// Fields share no memory with samples: their data lies in a ring slot, a cache or device memory.
class CACHEBISECT_API Batch {
 public:
  std::int64_t size = 0;  ///< samples in the batch
  std::vector<BatchField> fields;
  std::vector<SampleIndex> indices;  ///< of its samples, in order
  std::uint64_t epoch = 0;           ///< of its first sample; a part of the keys of random draws
  double padding_share = 0;          ///< share of the bytes that collate.pad filled with zeros

  [[nodiscard]] const BatchField* find(std::string_view name) const noexcept;
  /// Throws Error(usage) that lists the existing fields.
  [[nodiscard]] const TensorView& tensor(std::string_view name) const;
  [[nodiscard]] std::size_t byte_size() const noexcept;
};

/// A batch in host memory.
using HostBatch = Batch;

/// A batch on the device. On the emulated device the tensors have no memory (data is null).
class CACHEBISECT_API DeviceBatch : public Batch {};

/// A batch together with the memory behind it; field i lives in buffer i, which grows to a
/// high-water mark.
template <class BatchType>
class OwnedBatch {
 public:
  explicit OwnedBatch(std::shared_ptr<MemoryResource> memory)
      : memory_(std::move(memory)), scratch_(memory_) {}

  /// Makes field `i` a dense tensor of this name, dtype and shape, and of samples of one shape.
  /// Reallocates only beyond capacity.
  TensorView& resize_field(std::size_t i, std::string_view name, DType dtype, const Shape& shape) {
    if (i >= batch.fields.size()) batch.fields.resize(i + 1);
    if (i >= buffers_.size()) buffers_.resize(i + 1);
    if (!buffers_[i].data()) buffers_[i] = Buffer(memory_);
    const auto bytes = static_cast<std::size_t>(shape.elements()) * size_of(dtype);
    batch.fields[i].name = name;
    batch.fields[i].tensor = dense_view(buffers_[i].reserve(bytes == 0 ? 1 : bytes), dtype, shape);
    batch.fields[i].sample_shapes.clear();
    return batch.fields[i].tensor;
  }
  /// Makes field `i` one like `field`, whose data are then copied.
  TensorView resize_like(std::size_t i, const BatchField& field) {
    resize_field(i, field.name, field.tensor.dtype, field.tensor.shape);
    batch.fields[i].sample_shapes = field.sample_shapes;
    return batch.fields[i].tensor;
  }
  /// Begins a stage's output as a view of every field of `input`, which must outlive it.
  void begin_from(const Batch& input) { static_cast<Batch&>(batch) = input; }
  /// Memory in addition to the fields, for the stage that fills them.
  [[nodiscard]] Buffer& scratch() noexcept { return scratch_; }
  [[nodiscard]] std::size_t capacity() const noexcept {
    std::size_t bytes = scratch_.capacity();
    for (const Buffer& buffer : buffers_) bytes += buffer.capacity();
    return bytes;
  }

  BatchType batch;

 private:
  std::shared_ptr<MemoryResource> memory_;
  std::vector<Buffer> buffers_;
  Buffer scratch_;
};

using OwnedHostBatch = OwnedBatch<HostBatch>;
using OwnedDeviceBatch = OwnedBatch<DeviceBatch>;

}  // namespace cachebisect
