#include "stages/datasets/window_params.hpp"

#include <cmath>
#include <string>
#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/data/shape.hpp"

namespace cachebisect::stages {
namespace {

ParamSpec extents_param(std::string name, std::string doc) {
  return {.name = std::move(name),
          .type = ParamType::number_list,
          .doc = std::move(doc),
          .default_value = std::vector<double>{},
          .minimum = 1,
          .maximum = 1e9,
          .max_items = Shape::kMaxRank};
}

std::vector<std::int64_t> whole_extents(const Params& params, const std::string& name) {
  std::vector<std::int64_t> extents;
  for (const double value : params.numbers(name)) {
    if (value != std::floor(value))
      throw Error(ErrorKind::usage, "\"" + name + "\" must be whole numbers");
    extents.push_back(static_cast<std::int64_t>(value));
  }
  return extents;
}

}  // namespace

ParamSpec window_param() {
  return extents_param("window",
                       "extents of a sample, for each axis but the first: windows within each "
                       "item; for each axis: windows of the whole array; empty: an item along the "
                       "first axis");
}

ParamSpec step_param() {
  return extents_param("step",
                       "from one window to the next along each axis; empty: the extents of "
                       "`window`, so that none overlap");
}

ParamSpec labels_param(const std::string& where) {
  return {.name = "labels",
          .type = ParamType::string,
          .doc = "name of " + where +
                 " with a whole number for each item, or for each sample; empty: samples have none",
          .default_value = ""};
}

ParamSpec unpack_param(bool default_value) {
  return {.name = "unpack",
          .type = ParamType::boolean,
          .doc =
              "apply `scale_factor` and `add_offset`, and turn missing values into NaN where "
              "values are floating point; false: the numbers as stored",
          .default_value = default_value};
}

WindowExtents window_extents(const Params& params) {
  WindowExtents extents{whole_extents(params, "window"), whole_extents(params, "step")};
  if (extents.window.empty() && !extents.step.empty())
    throw Error(ErrorKind::usage, "\"step\" is of a \"window\", which is not given");
  return extents;
}

}  // namespace cachebisect::stages
