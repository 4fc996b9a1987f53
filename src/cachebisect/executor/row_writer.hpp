// Puts samples into the rows of a batch slot.
#pragma once

#include <vector>

#include "cachebisect/executor/batch_slot.hpp"

namespace cachebisect {

/// Static shapes: the last sample stage writes into the row itself if it can, else its output is
/// copied there. Dynamic shapes: the slot keeps the sample for gather(). One thread at a time.
class RowWriter {
 public:
  /// Keeps a reference to `layouts`.
  RowWriter(const Pipeline& pipeline, const std::vector<RowLayout>& layouts)
      : layouts_(&layouts), dynamic_(!pipeline.static_shapes()) {}

  /// Where the last sample stage writes: `buffer` with its fields attached to the row, or the
  /// slot's own sample.
  Sample& target(BatchSlot& slot, std::int64_t row, Sample& buffer) const;
  /// As target(), for what a cache serves, which is not written to the row.
  Sample& shown(BatchSlot& slot, std::int64_t row, Sample& buffer) const;
  /// Completes the row. `in_place`: the sample was written to target(). Throws Error(data) if a
  /// field is missing or is not as declared.
  void store(BatchSlot& slot, std::int64_t row, const Sample& sample, bool in_place) const;

 private:
  const std::vector<RowLayout>* layouts_;
  bool dynamic_;
};

}  // namespace cachebisect
