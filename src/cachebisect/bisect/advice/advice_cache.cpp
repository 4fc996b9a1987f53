// A cache in memory after the stages whose output is the same in every epoch.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/advice/advice.hpp"
#include "cachebisect/bisect/costs/cache_changes.hpp"
#include "cachebisect/bisect/costs/sample_stages.hpp"
#include "cachebisect/protocol/job_setting_text.hpp"
#include "cachebisect/protocol/settings.hpp"

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
  for (std::size_t s = reading_stage(chain); s < advice.stages().size(); ++s) {
    const StageReport& stage = advice.stages()[s];
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
  const JobSetting* const setting = advice.chain().settings.at(settings::kCache);
  if (setting == nullptr) return {};
  const auto& stages = advice.chain().stages;
  auto value = value_json(*setting, first_word(stages[place.after - 1].name));
  const bool whole = place.after == stages.size() || stages[place.after].kind != StageKind::sample;
  if (!value && whole) value = value_json(*setting, "sample");
  if (!value) return {};
  return {{"/" + std::string(settings::kCache), *value}};
}

}  // namespace

void offer_cache(Advice& advice, const StageReport& stage) {
  const auto place = best_place(advice, stage);
  if (!place) return;
  std::vector<Edit> edits = advice.of_code() ? set_in_code(*place, advice) : inserted(*place);
  if (edits.empty()) return;
  const StageReport& kept = advice.stages()[place->after - 1];
  advice.add(propose(
      "cache", stage.name, "keep samples in memory after " + kept.name,
      "what " + kept.name + " makes is the same in every epoch; " + memory_text(*place),
      std::move(edits),
      cached_after(advice.chain(), place->after, place->kept, kept.output_bytes.value_or(0))));
}

void advise_on_cache(Advice& advice, const StageReport& stage) {
  if (stage.type == "cache.disk") {
    advice.add(propose("cache_memory", stage.name, "keep the samples in memory: cache.memory",
                       "reading them from the file costs their bytes once more"));
  }
  advice.add(
      propose("smaller_samples", stage.name,
              "put the cache where samples are smaller, or behind a stage that makes them so",
              "it serves every byte of a sample"));
}

}  // namespace cachebisect
