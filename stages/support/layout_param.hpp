// The parameter layout: the memory layout of images in a batch.
#pragma once

#include <cstddef>

#include "cachebisect/data/shape.hpp"
#include "cachebisect/pipeline/params.hpp"
#include "cachebisect/pipeline/stack_collate.hpp"

namespace cachebisect::stages {

inline ParamSpec layout_param(std::string doc, std::string default_value) {
  return {.name = "layout",
          .type = ParamType::string,
          .doc = std::move(doc),
          .default_value = std::move(default_value),
          .choices = {"NHWC", "NCHW"}};
}

/// The channel axis of a batch of this shape: 1 for images in NCHW, otherwise the last one.
inline std::size_t channel_axis(BatchLayout layout, const Shape& shape) {
  return layout == BatchLayout::nchw && shape.rank() == 4 ? 1 : shape.rank() - 1;
}

}  // namespace cachebisect::stages
