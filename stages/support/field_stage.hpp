// The base of sample stages that work field by field, and checks of what comes in.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect::stages {

/// The parameter `fields` ({"image"} when it is absent).
std::vector<std::string> fields_of(const Params& params);

/// The field `name` of `spec` (of samples or of a batch). Throws Error(usage) that lists the
/// existing fields.
FieldSpec& require_field(std::vector<FieldSpec>& spec, const std::string& name);
/// Throws Error(usage) unless `field` is of one of `dtypes`; `hint` is a remedy.
void require_dtype(const FieldSpec& field, std::initializer_list<DType> dtypes,
                   std::string_view hint = "");
/// Throws Error(usage) unless `field` is an HWC image (rank 3) of one of `dtypes` (any when empty).
void require_image(const FieldSpec& field, std::initializer_list<DType> dtypes,
                   std::string_view hint = "");
/// Throws Error(usage) unless `field` holds uint8 bytes of shape `wanted` ([kDynamic]: any number);
/// `meaning` says what bytes these are.
void require_bytes(const FieldSpec& field, const Shape& wanted, std::string_view meaning);
/// Throws Error(usage) unless a parameter with this many entries fits the channels of `field`: one
/// entry for all, or one per channel. `subject` begins the message: "mean and std have".
void require_entries(std::string_view subject, std::size_t entries, const FieldSpec& field,
                     std::int64_t channels);

/// Throws Error(data) that names the image's shape.
[[noreturn]] void refuse_sample(const std::string& what, const Shape& shape);
/// Like require_entries(), for the image [height, width, channels] of one sample: Error(data).
void check_entries(std::string_view subject, std::size_t entries, const Shape& shape);
/// The bytes of one sample's field. Throws Error(data) unless they are dense uint8 of shape
/// `wanted`.
std::span<const std::byte> checked_bytes(const ConstTensorView& field, const Shape& wanted);

/// Makes `out` a field of this dtype and shape, in a row of any layout. `write` fills memory that
/// it takes to be dense.
template <class Write>
void write_dense(Field& out, DType dtype, const Shape& shape, Arena& arena, const Write& write) {
  const TensorView to = out.resize_strided(dtype, shape);
  if (to.is_dense()) return write(to.data);
  const auto dense = arena.take(static_cast<std::size_t>(shape.elements()) * size_of(dtype));
  write(dense.data());
  copy_tensor(dense_view(dense.data(), dtype, shape), to);
}

/// A sample stage that maps each of its fields separately. All fields of a sample get the same
/// random numbers, so that an image and its mask stay aligned.
class FieldStage : public SampleStage {
 public:
  explicit FieldStage(const Params& params) : fields_(fields_of(params)) {}

  [[nodiscard]] SampleSpec infer(const SampleSpec& input) final;
  void process(const Sample& input, Sample& out, const SampleContext& context) const final;

 protected:
  /// The output for a field of this dtype and shape; dimensions may be kDynamic.
  [[nodiscard]] virtual FieldSpec infer_field(const FieldSpec& input) = 0;
  /// `out` begins as a view of `input`; leaving it unchanged passes the field through.
  virtual void process_field(const ConstTensorView& input, Field& out,
                             const SampleContext& context) const = 0;

 private:
  std::vector<std::string> fields_;
};

}  // namespace cachebisect::stages
