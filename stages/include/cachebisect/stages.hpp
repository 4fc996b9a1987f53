// The built-in stages: registration for pipeline files, and builder functions for C++.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {

/// Adds every built-in stage to the registry.
CACHEBISECT_API void register_all(Registry& registry);

/// Any built-in stage, from its JSON object as in a pipeline file, without "use":
/// make("augment.rotate", R"({"degrees": [-15, 15]})"). Throws Error(usage) that names the
/// wrong type or parameter, as do the functions below. All of them are thread safe.
CACHEBISECT_API BuiltStage make(std::string_view type, std::string_view params_json = "{}");

/// Sizes are in pixels; `size` is the side of a square, or give height and width.
struct ResizeOptions {
  std::int64_t size = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t shorter_side = 0;           ///< keeps the aspect ratio
  std::string interpolation = "bilinear";  ///< nearest | area | bilinear | bicubic
  bool antialias = true;
  std::vector<std::string> fields{"image"};
};
CACHEBISECT_API BuiltStage resize(const ResizeOptions& options);

struct CenterCropOptions {
  std::int64_t size = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::vector<std::string> fields{"image"};
};
CACHEBISECT_API BuiltStage center_crop(const CenterCropOptions& options);

struct RandomCropOptions {
  std::int64_t size = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t padding = 0;  ///< zeros on each side before cropping
  std::vector<std::string> fields{"image"};
};
CACHEBISECT_API BuiltStage random_crop(const RandomCropOptions& options);

struct RandomResizedCropOptions {
  std::int64_t size = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::array<double, 2> scale{0.08, 1};           ///< share of the image area
  std::array<double, 2> ratio{3.0 / 4, 4.0 / 3};  ///< width over height
  std::string interpolation = "bilinear";
  bool antialias = true;
  std::vector<std::string> fields{"image"};
};
CACHEBISECT_API BuiltStage random_resized_crop(const RandomResizedCropOptions& options);

struct FlipOptions {
  double p = 0.5;  ///< probability
  std::vector<std::string> fields{"image"};
};
CACHEBISECT_API BuiltStage horizontal_flip(const FlipOptions& options = {});
CACHEBISECT_API BuiltStage vertical_flip(const FlipOptions& options = {});

/// Factors are drawn from max(0, 1 - x) to 1 + x; the hue shifts by -hue to hue of a full turn.
struct ColorJitterOptions {
  double brightness = 0;
  double contrast = 0;
  double saturation = 0;
  double hue = 0;
  std::vector<std::string> fields{"image"};
};
CACHEBISECT_API BuiltStage color_jitter(const ColorJitterOptions& options);

struct FieldOptions {
  std::vector<std::string> fields{"image"};
};
/// uint8 0..255 to float32 0..1.
CACHEBISECT_API BuiltStage to_float(const FieldOptions& options = {});

/// One entry per channel, or one for all.
struct NormalizeOptions {
  std::vector<double> mean;
  std::vector<double> std;
  std::vector<std::string> fields{"image"};
};
CACHEBISECT_API BuiltStage normalize(const NormalizeOptions& options);

/// Encoded bytes (JPEG and others) to uint8 RGB [height, width, 3].
CACHEBISECT_API BuiltStage decode_image(const FieldOptions& options = {});

}  // namespace cachebisect::stages
