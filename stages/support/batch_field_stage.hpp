// The base of device stages that work field by field.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect::stages {

/// A device stage that maps each of its fields separately.
class BatchFieldStage : public DeviceStage {
 public:
  explicit BatchFieldStage(const Params& params);

  [[nodiscard]] BatchSpec infer(const BatchSpec& input) final;
  void process(const DeviceBatch& input, OwnedDeviceBatch& out,
               const DeviceContext& context) const final;

 protected:
  /// The output for a batch field [N, ...] of this dtype and shape.
  [[nodiscard]] virtual FieldSpec infer_field(const FieldSpec& input) const = 0;
  /// Fills `to`, which has the dtype and shape that infer_field() gave for `from`, a field of
  /// `batch`.
  virtual void run(const ConstTensorView& from, const TensorView& to, const DeviceBatch& batch,
                   const DeviceContext& context) const = 0;

 private:
  std::vector<std::string> fields_;
};

}  // namespace cachebisect::stages
