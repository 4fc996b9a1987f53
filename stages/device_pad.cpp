// device.pad: samples of different sizes, end to end in a batch, padded after the copy.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "stages/support/field_stage.hpp"
#include "stages/support/largest_shape.hpp"

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

Shape ragged_shape_of(const Params& params) {
  std::vector<std::int64_t> dims;
  for (const double side : params.numbers("shape")) {
    if (side != std::floor(side) || side == 0)
      throw Error(ErrorKind::usage, "shape must be whole numbers, and -1 where samples differ");
    dims.push_back(side < 0 ? kDynamic : static_cast<std::int64_t>(side));
  }
  return Shape(dims);
}

/// Fields of samples that have one shape stay as they are.
class DevicePad final : public DeviceStage {
 public:
  explicit DevicePad(const Params& params)
      : fields_(fields_of(params)), shape_(ragged_shape_of(params)) {}

  BatchSpec infer(const BatchSpec& input) override {
    BatchSpec output = input;
    for (const std::string& name : fields_) {
      FieldSpec& field = require_field(output, name);
      const bool ragged = field.shape.rank() == 2 && field.shape[1] == kDynamic;
      if (!ragged && !agrees(Shape(field.shape.dims().subspan(1)))) {
        throw Error(ErrorKind::usage, "field \"" + name + "\" is " + field.shape.to_string() +
                                          ", must be one of collate.ragged, or of samples of " +
                                          shape_.to_string());
      }
      if (ragged) field.shape = shape_.with_leading(field.shape[0]);
    }
    return output;
  }

  void process(const DeviceBatch& input, OwnedDeviceBatch& out,
               const DeviceContext& context) const override {
    for (const std::string& name : fields_) {
      const auto found = std::ranges::find(input.fields, name, &BatchField::name);
      if (found == input.fields.end())
        throw Error(ErrorKind::internal, "the batch has no field \"" + name + "\"");
      pad(*found, static_cast<std::size_t>(found - input.fields.begin()), out, context);
    }
  }

 private:
  /// True if samples may have this shape.
  [[nodiscard]] bool agrees(const Shape& shape) const {
    return std::ranges::equal(shape.dims(), shape_.dims(),
                              [](std::int64_t is, std::int64_t wanted) {
                                return wanted == kDynamic || is == kDynamic || is == wanted;
                              });
  }

  void pad(const BatchField& field, std::size_t place, OwnedDeviceBatch& out,
           const DeviceContext& context) const {
    const TensorView& from = field.tensor;
    const std::vector<Shape>& shapes = field.sample_shapes;
    if (shapes.empty()) return require(Shape(from.shape.dims().subspan(1)), field.name);
    for (const Shape& shape : shapes) require(shape, field.name);
    const Shape padded = largest_shape(shapes).with_leading(from.shape[0]);
    context.ops().pad(from, out.resize_field(place, field.name, from.dtype, padded), shapes,
                      context.stream());
  }

  void require(const Shape& shape, const std::string& name) const {
    if (agrees(shape)) return;
    throw Error(ErrorKind::data, "samples of field \"" + name + "\" are " + shape.to_string() +
                                     ", must be " + shape_.to_string());
  }

  std::vector<std::string> fields_;
  Shape shape_;
};

}  // namespace

void register_device_pad(Registry& registry) {
  registry.add({.type = "device.pad",
                .doc = "Fields of collate.ragged padded with zeros to the largest sample of the "
                       "batch, on the device",
                .kind = StageKind::device,
                .params = {{.name = "shape",
                            .type = ParamType::number_list,
                            .doc = "of one sample, as the batch has it; -1 where samples differ",
                            .minimum = -1,
                            .maximum = 1e9,
                            .min_items = 1,
                            .max_items = Shape::kMaxRank - 1}},
                .example = R"({"shape": [3, -1, -1]})",
                .make = [](const Params& params) { return std::make_unique<DevicePad>(params); }});
}

}  // namespace cachebisect::stages
