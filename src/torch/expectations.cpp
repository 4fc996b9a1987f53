#include "expectations.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>

#include "loss.hpp"

#include "cachebisect/base/error.hpp"

namespace cachebisect::torch_module {
namespace {

[[noreturn]] void refuse(const std::string& field, const std::string& what) {
  throw Error(ErrorKind::usage, "field \"" + field + "\" at the training step: " + what);
}

bool fits(std::int64_t given, std::int64_t wanted) {
  return wanted == 0 || given == kDynamic || given == wanted;
}

std::string shape_text(const ImageInput& input) {
  const auto dim = [](std::int64_t size) { return size == 0 ? "?" : std::to_string(size); };
  return "[N, " + dim(input.channels) + ", " + dim(input.height) + ", " + dim(input.width) + "]";
}

std::vector<DType> image_dtypes(const TrainSpec& train) {
  if (train.precision == "fp32") return {DType::float32};
  return {DType::float32, DType::bfloat16, DType::float16};
}

void check_image_dtype(const FieldSpec& image, const TrainSpec& train) {
  const auto dtypes = image_dtypes(train);
  if (std::find(dtypes.begin(), dtypes.end(), image.dtype) != dtypes.end()) return;
  std::string remedy =
      "add augment.to_float or augment.normalize before collate, or device.to_float or "
      "device.normalize after the copy";
  if (image.dtype == DType::bfloat16 || image.dtype == DType::float16) {
    remedy = "set train.precision to bf16-mixed or fp16-mixed, or remove the cast";
  }
  refuse("image", "it is " + std::string(to_string(image.dtype)) + ", and model " + train.model +
                      " in " + train.precision + " trains on float32; " + remedy);
}

bool has_layout(const FieldSpec& image, const ImageInput& input, std::string_view layout) {
  return image.shape.rank() == 4 && fits(image.shape[layout.find('C')], input.channels) &&
         fits(image.shape[layout.find('H')], input.height) &&
         fits(image.shape[layout.find('W')], input.width);
}

/// mlp accepts rows of 784 numbers as well as images of 28x28.
bool is_flat(const FieldSpec& image, const ImageInput& input) {
  return image.shape.rank() == 2 && input.height > 0 &&
         fits(image.shape[1], input.channels * input.height * input.width);
}

ExpectedField expected_image(const ModelStepRequest& request, const ImageInput& input) {
  const FieldSpec& image = arriving(request, "image");
  check_image_dtype(image, request.train);
  ExpectedField expected{.name = "image", .dtypes = image_dtypes(request.train), .layout = "NCHW"};
  if (request.train.model == "mlp" && is_flat(image, input)) {
    if (request.train.memory_format == "channels_last") {
      refuse("image", "its shape is " + image.shape.to_string() +
                          ", and train.memory_format channels_last is an order of images; remove "
                          "it, or the stage that flattens");
    }
    expected.layout = "NC";
    expected.channels = input.channels * input.height * input.width;
    return expected;
  }
  const bool channels_last = request.train.memory_format == "channels_last";
  if (channels_last && !has_layout(image, input, "NCHW") && has_layout(image, input, "NHWC")) {
    expected.layout = "NHWC";
  } else if (!has_layout(image, input, "NCHW")) {
    refuse("image", "its shape is " + image.shape.to_string() + ", and model " +
                        request.train.model + " needs " + shape_text(input) +
                        "; resize or crop to that size, and set collate's layout to NCHW" +
                        (channels_last ? " or NHWC" : ""));
  }
  expected.channels = input.channels;
  expected.height = input.height;
  expected.width = input.width;
  return expected;
}

ExpectedField expected_label(const ModelStepRequest& request) {
  const FieldSpec& label = arriving(request, "label");
  if (label.dtype == DType::int64 && label.shape.rank() == 1) {
    return {.name = "label", .dtypes = {DType::int64}, .layout = "N"};
  }
  if (label.dtype == DType::float32 && label.shape.rank() == 2 &&
      fits(label.shape[1], request.train.classes)) {
    return {.name = "label",
            .dtypes = {DType::float32},
            .layout = "NC",
            .channels = request.train.classes};
  }
  refuse("label", "it is " + std::string(to_string(label.dtype)) + " " + label.shape.to_string() +
                      "; cross_entropy needs int64 [N], or float32 one-hot [N, " +
                      std::to_string(request.train.classes) + "]");
}

}  // namespace

std::string title_of(const TrainSpec& train) {
  if (train.kind != TrainSpec::Kind::module) return "model " + train.model;
  return "module " + std::filesystem::path(train.module).filename().string();
}

const FieldSpec& arriving(const ModelStepRequest& request, const std::string& name) {
  if (const FieldSpec* field = find_field(request.input, name)) return *field;
  std::string there;
  for (const FieldSpec& field : request.input) {
    there += (there.empty() ? "" : ", ") + field.name;
  }
  refuse(name, title_of(request.train) + " needs it; the chain gives " +
                   (there.empty() ? "no field" : there));
}

std::vector<ExpectedField> module_fields(const ModelStepRequest& request) {
  std::vector<std::string> names = request.train.inputs;
  if (Loss(request.train.loss).has_target()) names.push_back(request.train.target);
  std::vector<ExpectedField> fields;
  fields.reserve(names.size());
  for (const std::string& name : names) {
    fields.push_back({.name = name, .dtypes = {arriving(request, name).dtype}});
  }
  return fields;
}

std::vector<ExpectedField> expected_fields(const ModelStepRequest& request,
                                           const ImageInput& input) {
  return {expected_image(request, input), expected_label(request)};
}

}  // namespace cachebisect::torch_module
