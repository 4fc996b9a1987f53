#include "cachebisect/bisect/advice/commutations.hpp"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

namespace cachebisect {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kCommutations{
    Commutation{"augment.cast", Swap::keeps_zeros},
    Commutation{"augment.color_jitter", Swap::keeps_zeros, false},
    Commutation{"augment.gaussian_blur", Swap::changes, false,
                "a blur reads the pixels around, which the crop takes away at its border"},
    Commutation{"augment.grayscale", Swap::keeps_zeros, false},
    Commutation{"augment.horizontal_flip", Swap::mirrors_columns},
    Commutation{"augment.normalize", Swap::pixelwise},
    Commutation{"augment.one_hot", Swap::other_fields, false},
    Commutation{"augment.random_erasing", Swap::changes, false,
                "the rectangle is a share of the whole image"},
    Commutation{"augment.resize", Swap::changes, true, "the crop is of the resized image"},
    Commutation{"augment.rotate", Swap::changes, false, "it moves pixels into the crop"},
    Commutation{"augment.to_float", Swap::keeps_zeros},
    Commutation{"augment.vertical_flip", Swap::mirrors_rows},
};

constexpr std::string_view kUnknown = "nothing is known of it and a crop before it";
constexpr std::string_view kSameField = "the crop works on its field";
constexpr std::string_view kMean = "its contrast depends on the mean of the whole image";
constexpr std::string_view kMayPad = "a sample may be smaller than the crop, which then pads it";
constexpr std::string_view kPads = "the crop pads, with zeros that the stage would change";
constexpr std::string_view kOffCentre = "the crop does not lie in the middle of every image";

struct CropSize {
  std::int64_t height = 0;
  std::int64_t width = 0;
};

CropSize size_of_crop(const Json& crop) {
  const std::int64_t size = crop.value("size", std::int64_t{0});
  return {crop.value("height", size), crop.value("width", size)};
}

/// Why the crop may give pixels that are not of the image; empty if it cannot. A random crop
/// without padding refuses what is smaller.
std::string_view why_padded(const Json& crop, const ImageSides& sides) {
  if (crop.at("use") == "augment.random_crop") {
    return crop.value("padding", std::int64_t{0}) > 0 ? kPads : std::string_view{};
  }
  const auto [height, width] = size_of_crop(crop);
  const bool fits =
      sides.height.value_or(sides.least) >= height && sides.width.value_or(sides.least) >= width;
  return fits ? std::string_view{} : kMayPad;
}

/// True if a centre crop leaves as much on one side as on the other.
bool is_centred(const Json& crop, std::optional<std::int64_t> side, std::int64_t size) {
  return crop.at("use") == "augment.center_crop" && side && (*side - size) % 2 == 0;
}

}  // namespace

std::span<const Commutation> commutations() noexcept { return kCommutations; }

const Commutation* commutation_of(std::string_view stage) noexcept {
  const auto* const found = std::ranges::find(kCommutations, stage, &Commutation::stage);
  return found == kCommutations.end() ? nullptr : found;
}

bool is_crop(std::string_view stage) noexcept {
  return stage == "augment.center_crop" || stage == "augment.random_crop";
}

std::string why_not_swapped(const Json& stage, const Json& crop, const ImageSides& sides) {
  const Commutation* const entry = commutation_of(stage.at("use").get<std::string>());
  if (entry == nullptr) return std::string(kUnknown);
  const CropSize size = size_of_crop(crop);
  if (stage.value("contrast", 0.0) > 0) return std::string(kMean);
  switch (entry->swap) {
    case Swap::keeps_zeros:
      return {};
    case Swap::pixelwise:
      return std::string(why_padded(crop, sides));
    case Swap::mirrors_rows:
      return std::string(is_centred(crop, sides.height, size.height) ? "" : kOffCentre);
    case Swap::mirrors_columns:
      return std::string(is_centred(crop, sides.width, size.width) ? "" : kOffCentre);
    case Swap::other_fields:
      return std::string(kSameField);
    case Swap::changes:
      break;
  }
  return std::string(entry->why);
}

}  // namespace cachebisect
