// The random changes of colour of ColorJitter, drawn alike before and behind the copy.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "stages/kernels/range.hpp"

#include "cachebisect/base/random.hpp"
#include "cachebisect/data/image_changes.hpp"
#include "cachebisect/pipeline/params.hpp"

namespace cachebisect::stages {

/// `brightness`, `contrast`, `saturation` and `hue`.
std::vector<ParamSpec> color_jitter_params();
/// True for as many channels as changes of colour are defined for.
[[nodiscard]] constexpr bool has_color_channels(std::int64_t channels) noexcept {
  return channels == 1 || channels == 3;
}

/// torchvision's ColorJitter: uniform factors, in a random order.
class ColorJitterDraw {
 public:
  explicit ColorJitterDraw(const Params& params);
  [[nodiscard]] ColorChanges draw(RandomStream random) const;

 private:
  struct Choice {
    ColorOp op = ColorOp::none;
    Range factor;
  };
  std::array<Choice, ColorChanges::kCount> choices_;
};

}  // namespace cachebisect::stages
