#include "cachebisect/simulate/simulated_overrides.hpp"

#include <charconv>
#include <cmath>
#include <string_view>

namespace cachebisect {
namespace {

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool set_count(int& target, std::optional<double> value, int min) {
  constexpr double kMax = 1e6;
  if (!value || *value != std::floor(*value) || *value < min || *value > kMax) return false;
  target = static_cast<int>(*value);
  return true;
}

bool set_seconds(double& target, std::optional<double> value, double unit) {
  if (!value || !(*value >= 0)) return false;
  target = *value * unit;
  return true;
}

bool set_copy(SimulatedChain& chain, std::string_view parameter, const std::string& value) {
  if (parameter == "prefetch") return set_count(chain.copy_prefetch, number(value), 0);
  if (parameter != "non_blocking" || (value != "true" && value != "false")) return false;
  chain.copy_non_blocking = value == "true";
  return true;
}

SimulatedStage* find_stage(SimulatedChain& chain, std::string_view name) {
  for (auto& stage : chain.stages) {
    if (stage.name == name) return &stage;
  }
  int index = -1;
  if (!set_count(index, number(name), 0)) return nullptr;
  const auto at = static_cast<std::size_t>(index);
  return at < chain.stages.size() ? &chain.stages[at] : nullptr;
}

bool set_stage(SimulatedChain& chain, std::string_view path, const std::string& value) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view name = path.substr(0, dot);
  const std::string_view parameter = path.substr(dot + 1);
  if (name == "copy") return set_copy(chain, parameter, value);
  SimulatedStage* const stage = find_stage(chain, name);
  if (stage == nullptr) return false;
  const bool payload = stage->kind == CostKind::payload;
  if (parameter == "us" && !payload) return set_seconds(stage->seconds, number(value), 1e-6);
  if (parameter == "bytes" && payload) return set_seconds(stage->bytes, number(value), 1);
  return false;
}

bool set(SimulatedChain& chain, const std::string& path, const std::string& value) {
  constexpr std::string_view kStages = "stages.";
  if (path == "workers") return set_count(chain.workers, number(value), 0);
  if (path == "prefetch") return set_count(chain.ring_prefetch, number(value), 0);
  if (path == "batch_size") {
    int batch = 0;
    if (!set_count(batch, number(value), 1)) return false;
    chain.batch_size = batch;
    return true;
  }
  if (path == "emulate.step_ms") return set_seconds(chain.step_seconds, number(value), 1e-3);
  if (path == "emulate.copy_latency_us") {
    return set_seconds(chain.copy_latency_seconds, number(value), 1e-6);
  }
  if (path == "emulate.copy_gb_per_s") {
    const auto rate = number(value);
    return rate && *rate > 0 && set_seconds(chain.copy_bytes_per_second, rate, 1e9);
  }
  if (!path.starts_with(kStages)) return false;
  return set_stage(chain, std::string_view(path).substr(kStages.size()), value);
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
