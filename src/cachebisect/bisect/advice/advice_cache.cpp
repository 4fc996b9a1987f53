// A cache in memory after the stages whose output is the same in every epoch.
#include <algorithm>
#include <cmath>
#include <string>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/advice/advice.hpp"

namespace cachebisect {
namespace {

/// Of the memory that is available: the rest is for what the job needs besides.
constexpr double kMemoryShare = 0.5;
/// Share of the samples below which a cache is not worth its memory.
constexpr double kLeastKept = 0.02;
/// What managing the samples adds to their bytes.
constexpr double kOverhead = 1.05;
constexpr double kBytesPerGb = 1e9;

/// A cache behind the stage of this number (from 1).
struct Place {
  std::size_t after = 0;
  double needed_bytes = 0;    ///< for all samples
  double kept = 0;            ///< share of them that the memory holds
  double spared_seconds = 0;  ///< of the workers, per sample
};

std::optional<double> busy_seconds(const StageReport& stage) {
  if (!stage.cpu_seconds_per_sample || !stage.wait_seconds_per_sample) return std::nullopt;
  return *stage.cpu_seconds_per_sample + *stage.wait_seconds_per_sample;
}

/// The place that spares most of those behind `named` whose samples are the same in every epoch.
std::optional<Place> best_place(const Advice& advice, const StageReport& named) {
  const ChainDescription& chain = advice.chain();
  const double memory = kMemoryShare * advice.available_memory();
  std::optional<Place> best;
  double spared = 0;
  for (const StageReport& stage : advice.stages()) {
    const StageDescription& described = advice.described(stage);
    const bool of_samples =
        described.kind == StageKind::source || described.kind == StageKind::sample;
    if (!of_samples || !stage.cacheable || described.cache) break;
    spared += busy_seconds(stage).value_or(stage.seconds_per_sample.value_or(0));
    if (stage.index < named.index || !stage.output_bytes) continue;
    Place place{.after = static_cast<std::size_t>(stage.index)};
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
  for (std::size_t stage = 0; stage < place.after; ++stage) {
    changes.stages.push_back({.stage = stage, .factor = 1 - place.kept});
  }
  return changes;
}

}  // namespace

void offer_cache(Advice& advice, const StageReport& stage) {
  if (advice.of_code()) return;
  const auto place = best_place(advice, stage);
  if (!place) return;
  const std::string& last = advice.stages()[place->after - 1].name;
  const double limit = place->kept * place->needed_bytes;
  const std::string holds =
      place->kept < 1 ? format_bytes(limit) + " of memory hold " + percent(place->kept) + " of " +
                            format_bytes(place->needed_bytes)
                      : "all samples take " + format_bytes(place->needed_bytes) + " of memory";
  advice.add(propose(
      "cache", stage.name, "keep samples in memory after " + last,
      "what " + last + " makes is the same in every epoch; " + holds,
      {{"/stages/" + std::to_string(place->after),
        R"({"use": "cache.memory", "limit_gb": )" + limit_gb(limit) + "}", EditKind::insert}},
      spared_by(*place)));
}

}  // namespace cachebisect
