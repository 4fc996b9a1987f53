#include "cachebisect/bisect/advice/remedy_edits.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include <nlohmann/json.hpp>

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
  const Json all = file_stages(chain);
  if (stages.empty() || all.is_null()) return {};
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
