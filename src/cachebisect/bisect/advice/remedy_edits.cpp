#include "cachebisect/bisect/advice/remedy_edits.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include <nlohmann/json.hpp>

namespace cachebisect {
namespace {

using Json = nlohmann::ordered_json;

Json fields_of(const Json& stage) { return stage.value("fields", Json::array({"image"})); }

bool share_a_field(const Json& a, const Json& b) {
  const Json fields = fields_of(a);
  return std::any_of(fields.begin(), fields.end(), [&](const Json& field) {
    const Json others = fields_of(b);
    return std::find(others.begin(), others.end(), field) != others.end();
  });
}

/// The same stage on the device: its parameters, without what only host stages take.
Json on_device(const Json& stage, const Json& collate) {
  static const std::string kHost = "augment.";
  Json moved{{"use", "device." + stage["use"].get<std::string>().substr(kHost.size())}};
  for (const auto& [key, value] : stage.items()) {
    if (key != "use" && key != "name" && key != "on_error") moved[key] = value;
  }
  const bool by_channel = moved["use"] == "device.normalize";
  if (by_channel && collate.contains("layout")) moved["layout"] = collate["layout"];
  return moved;
}

}  // namespace

std::vector<Edit> move_to_device(const ChainDescription& chain,
                                 const std::vector<std::size_t>& stages) {
  const Json spec = Json::parse(chain.effective_json, nullptr, false);
  if (stages.empty() || !spec.is_object() || !spec.contains("stages")) return {};
  const Json& all = spec["stages"];
  if (all.size() != chain.stages.size()) return {};
  Json collate = Json::object();
  for (std::size_t s = stages.front(); s < all.size(); ++s) {
    const StageKind kind = chain.stages[s].kind;
    if (kind == StageKind::device) return {};
    if (kind == StageKind::collate) collate = all[s];
    const bool moves = std::find(stages.begin(), stages.end(), s) != stages.end();
    if (kind == StageKind::sample && !moves && share_a_field(all[s], all[stages.front()]))
      return {};
  }
  std::vector<Edit> edits;
  const auto removal = [](std::size_t s) {
    return Edit{"/stages/" + std::to_string(s), "null", EditKind::remove};
  };
  std::transform(stages.rbegin(), stages.rend(), std::back_inserter(edits), removal);
  edits.push_back({"/stages/-", on_device(all[stages.back()], collate).dump(), EditKind::insert});
  return edits;
}

}  // namespace cachebisect
