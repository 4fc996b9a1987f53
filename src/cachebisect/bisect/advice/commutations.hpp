// Which sample stages may change places with a crop behind them: one table of built-in stages, and
// the condition under which both orders give the same bits. Stages of plugins are not in it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// What both orders of a stage and a crop have in common.
enum class Swap {
  keeps_zeros,      ///< the same: each pixel by itself, and the zeros of a padded crop stay zeros
  pixelwise,        ///< the same if the crop never pads
  mirrors_rows,     ///< a flip: the same for a crop whose centre is that of the image
  mirrors_columns,  ///< likewise
  other_fields,     ///< the same, as the crop does not work on its fields
  changes,          ///< other outputs
};

struct Commutation {
  std::string_view stage;  ///< "augment.normalize"
  Swap swap = Swap::changes;
  bool writes_rows = true;    ///< it can write its output straight into the batch
  std::string_view why = {};  ///< of `changes`: the reason, of the stage
};

/// Sorted by stage.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::span<const Commutation> commutations() noexcept;
/// Null for a stage that is not in the table: nothing is known of it.
[[nodiscard]] CACHEBISECT_INTERNAL_API const Commutation* commutation_of(
    std::string_view stage) noexcept;

/// augment.center_crop and augment.random_crop.
[[nodiscard]] CACHEBISECT_INTERNAL_API bool is_crop(std::string_view stage) noexcept;

/// Sides of the images of one field before the crop, in pixels; empty: not the same for all
/// samples.
struct ImageSides {
  std::optional<std::int64_t> height;
  std::optional<std::int64_t> width;
  std::int64_t least = 0;  ///< no side of any sample is shorter
};

/// Why a crop that runs before a stage gives other bits than behind it; empty: they are the same,
/// random draws included, as these are keyed by the names of stages. `stage`, `crop`: with all
/// their parameters; the crop of a type that is_crop() knows. Throws nlohmann::json::exception for
/// parameters of other types than they have.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string why_not_swapped(
    const nlohmann::ordered_json& stage, const nlohmann::ordered_json& crop,
    const ImageSides& sides);

}  // namespace cachebisect
