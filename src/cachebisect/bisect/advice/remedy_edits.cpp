#include "cachebisect/bisect/advice/remedy_edits.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "cachebisect/bisect/advice/field_shapes.hpp"
#include "cachebisect/bisect/advice/file_stages.hpp"

namespace cachebisect {
namespace {

using Json = nlohmann::ordered_json;

bool share_a_field(const Json& a, const Json& b) {
  const std::vector<std::string> others = fields_of_stage(b);
  return std::ranges::any_of(fields_of_stage(a), [&](const std::string& field) {
    return std::ranges::find(others, field) != others.end();
  });
}

/// A stage that the device has, too.
struct DeviceForm {
  std::string_view name;    ///< behind "augment." and "device."
  bool of_channels = true;  ///< takes the layout of the batch
  bool of_images = true;    ///< works on images of one size
  bool random = true;       ///< draws by its name
};

constexpr std::array kDeviceForms{DeviceForm{"to_float", false, false, false},
                                  DeviceForm{"normalize", true, false, false},
                                  DeviceForm{"one_hot", false, false, false},
                                  DeviceForm{"center_crop", true, true, false},
                                  DeviceForm{"random_crop"},
                                  DeviceForm{"horizontal_flip"},
                                  DeviceForm{"vertical_flip"},
                                  DeviceForm{"color_jitter"}};

const DeviceForm* device_form(std::string_view type) {
  constexpr std::string_view kHost = "augment.";
  if (!type.starts_with(kHost)) return nullptr;
  const auto* const found =
      std::ranges::find(kDeviceForms, type.substr(kHost.size()), &DeviceForm::name);
  return found == kDeviceForms.end() ? nullptr : found;
}

/// The same stage on the device: its parameters, without what only host stages take.
Json on_device(const Json& stage, const DeviceForm& form, const Json& collate) {
  Json moved{{"use", "device." + std::string(form.name)}};
  for (const auto& [key, value] : stage.items()) {
    const bool of_host = key == "use" || key == "on_error" || (key == "name" && !form.random);
    if (!of_host) moved[key] = value;
  }
  if (form.of_channels && collate.contains("layout")) moved["layout"] = collate["layout"];
  return moved;
}

/// device.normalize takes bytes: what makes floats in front of it has no work left.
bool is_in_next(const Json& all, const std::vector<std::size_t>& moved, std::size_t i) {
  return i + 1 < moved.size() && all[moved[i]]["use"] == "augment.to_float" &&
         all[moved[i + 1]]["use"] == "augment.normalize" &&
         fields_of_stage(all[moved[i]]) == fields_of_stage(all[moved[i + 1]]);
}

/// Both sides of the images that a stage gets are known, and the same in all samples.
bool is_of_one_size(const ChainDescription& chain, std::size_t stage, const Json& json) {
  return std::ranges::all_of(fields_of_stage(json), [&](const std::string& field) {
    std::string_view dims = shape_text(chain.stages[stage - 1].output, field);
    return take_side(dims).has_value() && take_side(dims).has_value();
  });
}

}  // namespace

std::vector<std::size_t> stages_to_move(const ChainDescription& chain, std::size_t first) {
  const Json all = file_stages(chain);
  const DeviceForm* const own = device_form(chain.stages[first].type);
  if (own == nullptr || first == 0) return {};
  std::vector<std::size_t> by_hand =
      own->of_images ? std::vector<std::size_t>{} : std::vector{first};
  if (all.is_null()) return by_hand;
  std::vector<std::size_t> moved;
  for (std::size_t s = first; s < all.size() && chain.stages[s].kind == StageKind::sample; ++s) {
    const bool follows = std::ranges::any_of(
        moved, [&](std::size_t before) { return share_a_field(all[before], all[s]); });
    if (s != first && !follows) continue;
    const DeviceForm* const form = device_form(chain.stages[s].type);
    if (form == nullptr || (form->of_images && !is_of_one_size(chain, s, all[s]))) return by_hand;
    moved.push_back(s);
  }
  return moved;
}

std::vector<Edit> move_to_device(const ChainDescription& chain,
                                 const std::vector<std::size_t>& stages) {
  const Json all = file_stages(chain);
  if (stages.empty() || all.is_null()) return {};
  Json collate = Json::object();
  for (std::size_t s = stages.front(); s < all.size(); ++s) {
    const StageKind kind = chain.stages[s].kind;
    if (kind == StageKind::device) return {};
    if (kind == StageKind::collate) collate = all[s];
    const bool moves = std::find(stages.begin(), stages.end(), s) != stages.end();
    if (kind != StageKind::sample || moves) continue;
    const auto shares = [&](std::size_t moved) { return share_a_field(all[s], all[moved]); };
    if (std::ranges::any_of(stages, shares)) return {};
  }
  std::vector<Edit> edits;
  const auto removal = [](std::size_t s) {
    return Edit{"/stages/" + std::to_string(s), "null", EditKind::remove};
  };
  std::transform(stages.rbegin(), stages.rend(), std::back_inserter(edits), removal);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const DeviceForm* const form = device_form(all[stages[i]]["use"].get<std::string>());
    if (form == nullptr) return {};
    if (is_in_next(all, stages, i)) continue;
    edits.push_back(
        {"/stages/-", on_device(all[stages[i]], *form, collate).dump(), EditKind::insert});
  }
  return edits;
}

}  // namespace cachebisect
