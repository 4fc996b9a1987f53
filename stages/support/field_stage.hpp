// What the sample stages that work field by field have in common.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect::stages {

/// The parameter `fields` ({"image"} when it is absent).
std::vector<std::string> fields_of(const Params& params);

/// The field `name` of `spec` (of samples or of a batch). Throws Error(usage) that lists the fields
/// there are.
FieldSpec& require_field(std::vector<FieldSpec>& spec, const std::string& name);
/// Throws Error(usage) unless `field` is of one of `dtypes`; `hint` says what would help.
void require_dtype(const FieldSpec& field, std::initializer_list<DType> dtypes,
                   std::string_view hint = "");
/// Throws Error(usage) unless `field` is an HWC image (rank 3) of one of `dtypes` (any when empty).
void require_image(const FieldSpec& field, std::initializer_list<DType> dtypes,
                   std::string_view hint = "");
/// Throws Error(data) that names the field's shape.
[[noreturn]] void refuse_sample(const std::string& what, const Shape& shape);

/// A sample stage that maps each of its fields on its own. Every field of a sample sees the same
/// random numbers, so that an image and its mask stay together.
class FieldStage : public SampleStage {
 public:
  explicit FieldStage(const Params& params) : fields_(fields_of(params)) {}

  [[nodiscard]] SampleSpec infer(const SampleSpec& input) final;
  void process(const Sample& input, Sample& out, const SampleContext& context) const final;

 protected:
  /// What becomes of a field of this dtype and shape; dimensions may be kDynamic.
  [[nodiscard]] virtual FieldSpec infer_field(const FieldSpec& input) = 0;
  /// `out` begins as a look at `input`'s memory; leaving it so passes the field through.
  virtual void process_field(const ConstTensorView& input, Field& out,
                             const SampleContext& context) const = 0;

 private:
  std::vector<std::string> fields_;
};

}  // namespace cachebisect::stages
