#include "stages/support/normalization.hpp"

#include "cachebisect/base/error.hpp"

namespace cachebisect::stages {
namespace {

constexpr std::size_t kMaxChannels = 1024;

std::vector<float> floats(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

}  // namespace

std::vector<ParamSpec> normalization_params() {
  return {{.name = "mean",
           .type = ParamType::number_list,
           .doc = "subtracted from each value; one per channel or one for all, on the scale 0..1",
           .min_items = 1,
           .max_items = kMaxChannels},
          {.name = "std",
           .type = ParamType::number_list,
           .doc = "divides the difference; one per channel or one for all",
           .minimum = 0,
           .exclusive_minimum = true,
           .min_items = 1,
           .max_items = kMaxChannels}};
}

Normalization normalization_of(const Params& params) {
  Normalization result{floats(params.numbers("mean")), floats(params.numbers("std"))};
  if (result.mean.size() != result.std.size()) {
    throw Error(ErrorKind::usage, "mean has " + std::to_string(result.mean.size()) +
                                      " entries and std " + std::to_string(result.std.size()) +
                                      "; give both one entry per channel, or one for all");
  }
  return result;
}

}  // namespace cachebisect::stages
