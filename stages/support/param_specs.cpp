#include "stages/support/param_specs.hpp"

#include "cachebisect/base/error.hpp"

namespace cachebisect::stages {

ParamSpec probability_param(double default_value, std::string doc) {
  return {.name = "p",
          .type = ParamType::number,
          .doc = std::move(doc),
          .default_value = default_value,
          .minimum = 0,
          .maximum = 1};
}

ParamSpec side_param(std::string name, std::string doc) {
  return {.name = std::move(name),
          .type = ParamType::integer,
          .doc = std::move(doc),
          .optional = true,
          .minimum = 1,
          .maximum = kMaxSide};
}

ParamSpec interpolation_param() {
  return {
      .name = "interpolation",
      .type = ParamType::string,
      .doc = "nearest and area as in Pillow (NEAREST, BOX), bilinear and bicubic as in torchvision",
      .default_value = std::string("bilinear"),
      .choices = {"bilinear", "nearest", "area", "bicubic"}};
}

ParamSpec antialias_param() {
  return {.name = "antialias",
          .type = ParamType::boolean,
          .doc = "widen bilinear and bicubic filters when shrinking, as torchvision does",
          .default_value = true};
}

ParamSpec range_param(std::string name, std::string doc, double low, double high, double minimum,
                      std::optional<double> maximum) {
  return {.name = std::move(name),
          .type = ParamType::number_list,
          .doc = std::move(doc),
          .default_value = std::vector<double>{low, high},
          .minimum = minimum,
          .maximum = maximum,
          .min_items = 2,
          .max_items = 2};
}

void add_size_params(std::vector<ParamSpec>& params) {
  params.push_back(side_param("size", "side of a square output, in pixels"));
  params.push_back(side_param("height", "output height, in pixels; together with width"));
  params.push_back(side_param("width", "output width, in pixels; together with height"));
}

std::optional<ImageSize> optional_size(const Params& params) {
  const bool square = params.has("size");
  const bool height = params.has("height");
  const bool width = params.has("width");
  if (height != width) {
    throw Error(ErrorKind::usage, "height and width go together; give both, or size for a square");
  }
  if (square && height) {
    throw Error(ErrorKind::usage, "give either size, or height and width, not both");
  }
  if (square) return ImageSize{params.integer("size"), params.integer("size")};
  if (height) return ImageSize{params.integer("height"), params.integer("width")};
  return std::nullopt;
}

ParamSpec shuffle_buffer_param() {
  return {.name = "shuffle_buffer_mb",
          .type = ParamType::number,
          .doc =
              "0: samples are read one by one, in any order; else about 1 MB "
              "is read at once, and shuffled within so many MB",
          .default_value = 0.0,
          .minimum = 0,
          .maximum = 1e6};
}

ImageSize required_size(const Params& params) {
  if (const auto size = optional_size(params)) return *size;
  throw Error(ErrorKind::usage, "the size is missing: give size, or height and width, in pixels");
}

ResizeFilter resize_filter(const Params& params) {
  return {filter_kind(params.string("interpolation")), params.boolean("antialias")};
}

Range range_of(const Params& params, const std::string& name) {
  const auto& values = params.numbers(name);
  if (values.size() != 2 || values[0] > values[1]) {
    throw Error(ErrorKind::usage, name + " must be two numbers, the smaller first");
  }
  return {values[0], values[1]};
}

}  // namespace cachebisect::stages
