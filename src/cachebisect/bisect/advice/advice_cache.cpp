// A cache in memory after the stages whose output is the same in every epoch.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/advice/advice.hpp"
#include "cachebisect/protocol/job_setting_text.hpp"

namespace cachebisect {
namespace {

/// Of the memory that is available: the rest is for what the job needs besides.
constexpr double kMemoryShare = 0.5;
/// Share of the samples below which a cache is not worth its memory.
constexpr double kLeastKept = 0.02;
/// What managing the samples adds to their bytes.
constexpr double kOverhead = 1.05;
constexpr double kBytesPerGb = 1e9;
/// What a sample from a cache costs a process that shares it with others.
constexpr double kSharedHitSeconds = 1e-4;
constexpr double kSharedBytesPerSecond = 1e9;

/// A cache behind the stage of this number (from 1).
struct Place {
  std::size_t first = 0;  ///< index of the first stage that it spares
  std::size_t after = 0;
  double needed_bytes = 0;    ///< for all samples
  double kept = 0;            ///< share of them that the memory holds
  double spared_seconds = 0;  ///< of the workers, per sample
};

std::optional<double> busy_seconds(const StageReport& stage) {
  if (!stage.cpu_seconds_per_sample || !stage.wait_seconds_per_sample) return std::nullopt;
  return *stage.cpu_seconds_per_sample + *stage.wait_seconds_per_sample;
}

/// Index of the stage that reads: what a DataLoader draws samples by comes before it.
std::size_t reading_stage(const Advice& advice) {
  const auto found = std::ranges::find(advice.stages(), Category::read, &StageReport::category);
  return found == advice.stages().end() ? 0
                                        : static_cast<std::size_t>(found - advice.stages().begin());
}

/// The place that spares most of those behind `named` whose samples are the same in every epoch.
std::optional<Place> best_place(const Advice& advice, const StageReport& named) {
  const ChainDescription& chain = advice.chain();
  const double memory = kMemoryShare * advice.available_memory();
  const std::size_t first = reading_stage(advice);
  std::optional<Place> best;
  double spared = 0;
  for (std::size_t s = first; s < advice.stages().size(); ++s) {
    const StageReport& stage = advice.stages()[s];
    const StageDescription& described = advice.described(stage);
    const bool of_samples =
        described.kind == StageKind::source || described.kind == StageKind::sample;
    if (!of_samples || !stage.cacheable || described.cache) break;
    spared += busy_seconds(stage).value_or(stage.seconds_per_sample.value_or(0));
    if (stage.index < named.index || !stage.output_bytes) continue;
    Place place{.first = first, .after = static_cast<std::size_t>(stage.index)};
    place.needed_bytes = kOverhead * *stage.output_bytes * static_cast<double>(chain.samples);
    place.kept = place.needed_bytes > 0 ? std::min(1.0, memory / place.needed_bytes) : 0;
    place.spared_seconds = place.kept * spared;
    if (!best || place.spared_seconds > best->spared_seconds) best = place;
  }
  return best && best->kept >= kLeastKept ? best : std::nullopt;
}

/// In steps of 10 MB, rounded up.
std::string limit_gb(double bytes) {
  return format_exact(std::max(1.0, std::ceil(bytes / kBytesPerGb * 100)) / 100);
}

CostChanges spared_by(const Place& place) {
  CostChanges changes;
  for (std::size_t stage = place.first; stage < place.after; ++stage) {
    changes.stages.push_back({.stage = stage, .factor = 1 - place.kept});
  }
  return changes;
}

/// As spared_by(); the samples are fetched from a cache that other processes share.
CostChanges spared_by_shared(const Place& place, const Advice& advice) {
  CostChanges changes = spared_by(place);
  const auto& stages = advice.stages();
  const auto slowest = std::ranges::max_element(changes.stages, {}, [&](const CostScale& scale) {
    return busy_seconds(stages[scale.stage]).value_or(0);
  });
  const double now = busy_seconds(stages[slowest->stage]).value_or(0);
  const double bytes = stages[place.after - 1].output_bytes.value_or(0);
  const double hit = kSharedHitSeconds + bytes / kSharedBytesPerSecond;
  if (now > 0) slowest->factor += place.kept * hit / now;
  return changes;
}

std::string memory_text(const Place& place) {
  if (place.kept >= 1) return "all samples take " + format_bytes(place.needed_bytes) + " of memory";
  return format_bytes(place.kept * place.needed_bytes) + " of memory hold " + percent(place.kept) +
         " of " + format_bytes(place.needed_bytes);
}

/// A stage that is inserted into a pipeline file.
std::vector<Edit> inserted(const Place& place) {
  const std::string limit = limit_gb(place.kept * place.needed_bytes);
  return {{"/stages/" + std::to_string(place.after),
           R"({"use": "cache.memory", "limit_gb": )" + limit + "}", EditKind::insert}};
}

/// The setting of a job in code that says behind which stage a cache stands: by the first word of
/// its name, or as the whole sample. Empty if no cache can stand there.
std::vector<Edit> set_in_code(const Place& place, const Advice& advice) {
  constexpr std::string_view kSetting = "cache";
  const JobSetting* const setting = advice.chain().settings.at(kSetting);
  if (setting == nullptr) return {};
  const auto& stages = advice.chain().stages;
  const std::string& name = stages[place.after - 1].name;
  auto value = value_json(*setting, std::string_view(name).substr(0, name.find(' ')));
  const bool whole = place.after == stages.size() || stages[place.after].kind != StageKind::sample;
  if (!value && whole) value = value_json(*setting, "sample");
  if (!value) return {};
  return {{"/" + std::string(kSetting), *value}};
}

}  // namespace

void offer_cache(Advice& advice, const StageReport& stage) {
  const auto place = best_place(advice, stage);
  if (!place) return;
  const bool of_code = advice.of_code();
  std::vector<Edit> edits = of_code ? set_in_code(*place, advice) : inserted(*place);
  if (edits.empty()) return;
  const std::string& last = advice.stages()[place->after - 1].name;
  advice.add(propose("cache", stage.name, "keep samples in memory after " + last,
                     "what " + last + " makes is the same in every epoch; " + memory_text(*place),
                     std::move(edits),
                     of_code ? spared_by_shared(*place, advice) : spared_by(*place)));
}

}  // namespace cachebisect
