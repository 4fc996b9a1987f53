#include "cachebisect/bisect/advice/crop_move.hpp"

#include <algorithm>
#include <exception>
#include <string_view>

#include <nlohmann/json.hpp>

#include "cachebisect/bisect/advice/commutations.hpp"
#include "cachebisect/bisect/advice/field_shapes.hpp"
#include "cachebisect/bisect/advice/file_stages.hpp"
#include "cachebisect/bisect/costs/order_changes.hpp"

namespace cachebisect {
namespace {

using Json = nlohmann::ordered_json;
using Names = std::vector<std::string>;

bool contains(const Names& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

class Finder {
 public:
  explicit Finder(const ChainDescription& chain) : chain_(chain), stages_(file_stages(chain)) {}

  [[nodiscard]] std::optional<CropMove> find(std::size_t stage) const {
    if (stages_.is_null() || !is_sample(stage)) return std::nullopt;
    std::optional<CropMove> refused;
    for (std::size_t crop = stage + 1; crop < chain_.stages.size() && is_sample(crop); ++crop) {
      if (!is_crop(chain_.stages[crop].type)) continue;
      CropMove move = moved_up(crop);
      if (move.left && *move.left >= 1) continue;
      if (move.first <= stage) {
        move.why.clear();
        return move;
      }
      if (!refused) refused = refusal(std::move(move));
    }
    return refused;
  }

 private:
  [[nodiscard]] const Json& json(std::size_t stage) const { return stages_[stage]; }
  [[nodiscard]] bool is_sample(std::size_t stage) const {
    return chain_.stages[stage].kind == StageKind::sample;
  }

  static CropMove refusal(CropMove move) {
    move.first = move.crop;
    move.spared.clear();
    return move;
  }

  /// The crop as far up as it goes; `why` says what ends it.
  [[nodiscard]] CropMove moved_up(std::size_t crop) const {
    CropMove move{.crop = crop, .first = crop, .spared = {}, .left = pixels_left(crop)};
    for (std::size_t stage = crop; stage-- > 0 && is_sample(stage);) {
      move.why = why_not(stage, crop);
      if (!move.why.empty()) break;
      if (!shares_field(stage, crop)) continue;
      move.first = stage;
      move.spared.insert(move.spared.begin(), stage);
    }
    const bool was_last = crop + 1 == chain_.stages.size() || !is_sample(crop + 1);
    const Commutation* const last = commutation_of(chain_.stages[crop - 1].type);
    move.adds_copy = was_last && move.first < crop && last != nullptr && !last->writes_rows;
    return move;
  }

  [[nodiscard]] bool shares_field(std::size_t stage, std::size_t crop) const {
    const Names own = fields_of_stage(json(stage));
    return std::ranges::any_of(fields_of_stage(json(crop)),
                               [&](const std::string& name) { return contains(own, name); });
  }

  [[nodiscard]] std::string why_not(std::size_t stage, std::size_t crop) const {
    const std::string begin = chain_.stages[stage].name + ": ";
    if (commutation_of(chain_.stages[stage].type) == nullptr) {
      return begin + why_not_swapped(json(stage), json(crop), {});
    }
    const Names cropped = fields_of_stage(json(crop));
    for (const std::string& field : fields_of_stage(json(stage))) {
      if (!contains(cropped, field)) continue;
      const std::string why = why_not_swapped(json(stage), json(crop), sides_before(crop, field));
      if (!why.empty()) return begin + why;
    }
    return {};
  }

  [[nodiscard]] ImageSides sides_before(std::size_t crop, const std::string& field) const {
    std::string_view dims = shape_text(chain_.stages[crop - 1].output, field);
    ImageSides sides;
    sides.height = take_side(dims);
    sides.width = take_side(dims);
    sides.least = least_side(crop, field);
    return sides;
  }

  /// The side that a resize to a shorter side leaves, with nothing between it and the crop that
  /// changes sides.
  [[nodiscard]] std::int64_t least_side(std::size_t crop, const std::string& field) const {
    for (std::size_t stage = crop; stage-- > 0 && is_sample(stage);) {
      if (!contains(fields_of_stage(json(stage)), field)) continue;
      const std::string& type = chain_.stages[stage].type;
      if (type == "augment.resize") return json(stage).value("shorter_side", std::int64_t{0});
      const Commutation* const entry = commutation_of(type);
      if (entry == nullptr || entry->swap == Swap::changes) break;
    }
    return 0;
  }

  /// Judged by its first field.
  [[nodiscard]] std::optional<double> pixels_left(std::size_t crop) const {
    const std::string field = fields_of_stage(json(crop)).at(0);
    const auto pixels = [&](std::size_t stage) -> std::optional<double> {
      std::string_view dims = shape_text(chain_.stages[stage].output, field);
      const auto height = take_side(dims);
      const auto width = take_side(dims);
      if (!height || !width) return std::nullopt;
      return static_cast<double>(*height) * static_cast<double>(*width);
    };
    const auto from = pixels(crop - 1);
    const auto to = pixels(crop);
    if (from && to && *from > 0) return *to / *from;
    return bytes_left_by(chain_, crop);
  }

  const ChainDescription& chain_;
  Json stages_;
};

}  // namespace

std::optional<CropMove> find_crop(const ChainDescription& chain, std::size_t stage) {
  try {
    return Finder(chain).find(stage);
  } catch (const std::exception&) {  // A recording that somebody wrote by hand.
    return std::nullopt;
  }
}

std::vector<Edit> edits_of(const ChainDescription& chain, const CropMove& move) {
  Json crop = file_stages(chain).at(move.crop);
  crop["name"] = chain.stages[move.crop].name;  // Draws are keyed by it.
  return {{"/stages/" + std::to_string(move.crop), "null", EditKind::remove},
          {"/stages/" + std::to_string(move.first), crop.dump(), EditKind::insert}};
}

}  // namespace cachebisect
