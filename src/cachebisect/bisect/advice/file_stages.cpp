#include "cachebisect/bisect/advice/file_stages.hpp"

#include <nlohmann/json.hpp>

namespace cachebisect {

nlohmann::ordered_json file_stages(const ChainDescription& chain) {
  const auto spec = nlohmann::ordered_json::parse(chain.effective_json, nullptr, false);
  if (!spec.is_object() || !spec.contains("stages")) return nullptr;
  const auto& stages = spec["stages"];
  if (!stages.is_array() || stages.size() != chain.stages.size()) return nullptr;
  return stages;
}

std::vector<std::string> fields_of_stage(const nlohmann::ordered_json& stage) {
  return stage.value("fields", std::vector<std::string>{"image"});
}

}  // namespace cachebisect
