#include "cachebisect/simulate/simulated_overrides.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "cachebisect/base/number_parse.hpp"
#include "cachebisect/base/setting_path.hpp"
#include "cachebisect/protocol/settings.hpp"

namespace cachebisect {
namespace {

template <class Target>
bool set_count(Target& target, std::string_view value, const settings::Count& setting) {
  // As in a pipeline file, 4.0 is an integer too.
  const auto number = parse_number<double>(value);
  if (!number || *number != std::floor(*number)) return false;
  if (*number < static_cast<double>(setting.min) || *number > static_cast<double>(setting.max)) {
    return false;
  }
  target = static_cast<Target>(*number);
  return true;
}

bool set_scaled(double& target, std::string_view value, double unit) {
  const auto number = parse_number<double>(value);
  if (!number || *number < 0) return false;
  target = *number * unit;
  return true;
}

bool set_loader(LoaderKind& target, std::string_view value) {
  const bool quoted = value.size() > 2 && value.front() == '"' && value.back() == '"';
  const auto kind = parse_loader_kind(quoted ? value.substr(1, value.size() - 2) : value);
  target = kind.value_or(target);
  return kind.has_value();
}

bool set_copy(SimulatedChain& chain, std::string_view parameter, const std::string& value) {
  if (parameter == "prefetch") {
    return set_count(chain.copy_prefetch, value, settings::kCopyPrefetch);
  }
  if (parameter != "non_blocking" || (value != "true" && value != "false")) return false;
  chain.copy_non_blocking = value == "true";
  return true;
}

SimulatedStage* find_stage(SimulatedChain& chain, const std::string& name) {
  const auto named = std::ranges::find(chain.stages, name, &SimulatedStage::name);
  if (named != chain.stages.end()) return &*named;
  const auto index = parse_number<std::size_t>(name);
  return index && *index < chain.stages.size() ? &chain.stages[*index] : nullptr;
}

bool set_stage(SimulatedChain& chain, const std::string& name, std::string_view parameter,
               const std::string& value) {
  const auto index = parse_number<std::size_t>(name);
  if (name == "copy" || index == chain.stages.size() + 1) return set_copy(chain, parameter, value);
  SimulatedStage* const stage = find_stage(chain, name);
  if (stage == nullptr) return false;
  const bool pays = stage->kind == CostKind::payload;
  if (parameter == "us" && !pays) return set_scaled(stage->seconds, value, 1e-6);
  if (parameter == "bytes" && pays) return set_scaled(stage->bytes, value, 1);
  return false;
}

bool set_device(SimulatedChain& chain, std::string_view parameter, const std::string& value) {
  if (parameter == "step_ms") return set_scaled(chain.step_seconds, value, 1e-3);
  if (parameter == "copy_latency_us") return set_scaled(chain.copy_latency_seconds, value, 1e-6);
  if (parameter != "copy_gb_per_s") return false;
  return set_scaled(chain.copy_bytes_per_second, value, 1e9) && chain.copy_bytes_per_second > 0;
}

bool set(SimulatedChain& chain, const std::string& text, const std::string& value) {
  const auto path = SettingPath::from_dotted(text);
  if (!path) return false;
  const std::vector<std::string>& parts = path->parts();
  if (parts.size() == 1) {
    if (text == settings::kWorkers.key) return set_count(chain.workers, value, settings::kWorkers);
    if (text == settings::kLoader) return set_loader(chain.loader, value);
    if (text == settings::kPrefetch.key) {
      return set_count(chain.ring_prefetch, value, settings::kPrefetch);
    }
    return text == settings::kBatchSize.key &&
           set_count(chain.batch_size, value, settings::kBatchSize);
  }
  if (parts.size() == 2) return parts[0] == "emulate" && set_device(chain, parts[1], value);
  return parts.size() == 3 && parts[0] == "stages" && set_stage(chain, parts[1], parts[2], value);
}

}  // namespace

std::optional<SimulatedChain> with_overrides(SimulatedChain chain,
                                             const std::map<std::string, std::string>& overrides) {
  for (const auto& [path, value] : overrides) {
    if (!set(chain, path, value)) return std::nullopt;
  }
  if (chain.step_seconds + chain.trainer_seconds <= 0) return std::nullopt;
  return chain;
}

}  // namespace cachebisect
