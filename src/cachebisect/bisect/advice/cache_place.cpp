#include "cachebisect/bisect/advice/cache_place.hpp"

#include <algorithm>
#include <string>

#include "cachebisect/bisect/costs/cache_changes.hpp"
#include "cachebisect/bisect/costs/sample_stages.hpp"
#include "cachebisect/bisect/record/bars.hpp"
#include "cachebisect/protocol/cache_use.hpp"
#include "cachebisect/protocol/job_setting_text.hpp"

namespace cachebisect {
namespace {

/// Share of the available memory: the rest is for what the job needs besides.
constexpr double kMemoryShare = 0.5;
/// What large pieces of memory take beyond their bytes.
constexpr double kOverhead = 1.05;

double busy_seconds(const StageReport& stage) {
  if (!stage.cpu_seconds_per_sample || !stage.wait_seconds_per_sample) {
    return stage.seconds_per_sample.value_or(0);
  }
  return *stage.cpu_seconds_per_sample + *stage.wait_seconds_per_sample;
}

}  // namespace

CachePlace place_after(const StageReport& stage, const ChainDescription& chain, double room_bytes) {
  CachePlace place{.after = static_cast<std::size_t>(stage.index)};
  place.bytes_per_sample = *stage.output_bytes;
  const double sample = kOverhead * place.bytes_per_sample + static_cast<double>(kCacheSampleBytes);
  place.needed_bytes = sample * static_cast<double>(chain.samples);
  place.kept = place.needed_bytes > 0 ? std::min(1.0, room_bytes / place.needed_bytes) : 0;
  return place;
}

double memory_for_cache(const Advice& advice) noexcept {
  return kMemoryShare * advice.available_memory();
}

std::optional<CachePlace> best_cache_place(const Advice& advice, const StageReport& named,
                                           double room_bytes, const CacheHit& hit) {
  const ChainDescription& chain = advice.chain();
  std::optional<CachePlace> best;
  double made = 0;
  for (std::size_t s = reading_stage(chain); s < advice.stages().size(); ++s) {
    const StageReport& stage = advice.stages()[s];
    const StageDescription& described = advice.described(stage);
    const bool of_samples =
        described.kind == StageKind::source || described.kind == StageKind::sample;
    if (!of_samples || !stage.cacheable || described.cache) break;
    made += busy_seconds(stage);
    if (stage.index < named.index || !stage.output_bytes) continue;
    CachePlace place = place_after(stage, chain, room_bytes);
    place.spared_seconds = place.kept * (made - served_seconds(hit, place.bytes_per_sample));
    if (!best || place.spared_seconds > best->spared_seconds) best = place;
  }
  return best && best->kept >= kNegligible ? best : std::nullopt;
}

std::vector<Edit> kept_in_code(const Advice& advice, std::string_view setting, std::size_t after) {
  const JobSetting* const known = advice.chain().settings.at(setting);
  if (known == nullptr) return {};
  const auto& stages = advice.chain().stages;
  auto value = value_json(*known, first_word(stages[after - 1].name));
  const bool whole = after == stages.size() || stages[after].kind != StageKind::sample;
  if (!value && whole) value = value_json(*known, "sample");
  if (!value) return {};
  return {{"/" + std::string(setting), *value}};
}

}  // namespace cachebisect
