// A batch slot of the ring: preallocated memory for one batch, one row per sample.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "cachebisect/pipeline/pipeline.hpp"

namespace cachebisect {

/// The location of one field's rows: row 0 and the distance to the next. Static shapes only.
struct RowLayout {
  std::size_t field = 0;  ///< in the batch and in collate's input
  const FieldSpec* sample = nullptr;
  TensorView first;  ///< of row 0, at offset 0
  std::size_t row_bytes = 0;
  bool dense = false;  ///< a row is
};

/// Throws Error(internal) if the collate stage's rows are not contiguous.
std::vector<RowLayout> row_layouts(const Pipeline& pipeline);

/// Filled by workers, one sample per row; finished by the worker that fills the last row.
class BatchSlot {
 public:
  BatchSlot(const Pipeline& pipeline, const std::shared_ptr<MemoryResource>& memory);

  [[nodiscard]] std::byte* row_data(const RowLayout& layout, std::int64_t row) noexcept {
    return rows_.batch.fields[layout.field].tensor.data +
           layout.row_bytes * static_cast<std::size_t>(row);
  }
  /// Dynamic shapes: the sample kept for gather().
  [[nodiscard]] Sample& staged(std::int64_t row) noexcept {
    return staged_[static_cast<std::size_t>(row)];
  }
  void set_index(std::int64_t row, SampleIndex index) noexcept {
    indices_[static_cast<std::size_t>(row)] = index;
  }

  /// Makes the batch of the first `size` rows.
  const HostBatch& collate(const CollateStage& collate, std::int64_t size, std::uint64_t epoch);
  /// The output of batch stage `position` of the chain.
  [[nodiscard]] OwnedHostBatch& output(std::size_t position) noexcept {
    return outputs_[position - first_output_];
  }
  [[nodiscard]] std::size_t capacity() const noexcept;

  alignas(64) std::atomic<std::int32_t> remaining{0};  ///< grains still to be filled
  const HostBatch* ready = nullptr;                    ///< the finished batch

 private:
  OwnedHostBatch rows_;
  std::vector<Sample> staged_;
  std::vector<SampleIndex> indices_;
  std::size_t first_output_;
  std::vector<OwnedHostBatch> outputs_;
};

}  // namespace cachebisect
