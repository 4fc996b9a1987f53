// A cache in memory after the stages whose output is the same in every epoch.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/advice/advice.hpp"
#include "cachebisect/bisect/advice/cache_place.hpp"
#include "cachebisect/bisect/costs/cache_changes.hpp"
#include "cachebisect/bisect/record/bars.hpp"
#include "cachebisect/protocol/settings.hpp"

namespace cachebisect {
namespace {

constexpr double kBytesPerGb = 1e9;

/// In steps of 10 MB, rounded up.
std::string limit_gb(double bytes) {
  return format_exact(std::max(1.0, std::ceil(bytes / kBytesPerGb * 100)) / 100);
}

std::string memory_text(const CachePlace& place) {
  if (place.kept >= 1) return "all samples take " + format_bytes(place.needed_bytes) + " of memory";
  return format_bytes(place.kept * place.needed_bytes) + " of memory hold " + percent(place.kept) +
         " of " + format_bytes(place.needed_bytes);
}

/// A stage that is inserted into a pipeline file.
std::vector<Edit> inserted(const CachePlace& place) {
  const std::string limit = limit_gb(place.kept * place.needed_bytes);
  return {{"/stages/" + std::to_string(place.after),
           R"({"use": "cache.memory", "limit_gb": )" + limit + "}", EditKind::insert}};
}

}  // namespace

void offer_cache(Advice& advice, const StageReport& stage) {
  const CacheHit hit = advice.of_code() ? shared_hit(advice.chain()) : CacheHit{};
  const auto place = best_cache_place(advice, stage, memory_for_cache(advice), hit);
  if (!place) return;
  std::vector<Edit> edits =
      advice.of_code() ? kept_in_code(advice, settings::kCache, place->after) : inserted(*place);
  if (edits.empty()) return;
  const StageReport& kept = advice.stages()[place->after - 1];
  advice.add(propose(
      "cache", stage.name, "keep samples in memory after " + kept.name,
      "what " + kept.name + " makes is the same in every epoch; " + memory_text(*place),
      std::move(edits),
      cached_after(advice.chain(), place->after, place->kept, kept.output_bytes.value_or(0))));
}

/// Data echoing: Choi et al., "Faster Neural Network Training with Data Echoing", 2019, section 3.
void offer_reuse(Advice& advice, const StageReport& stage) {
  constexpr int kReuse = 2;
  const bool is_sample = advice.described(stage).kind == StageKind::sample;
  if (advice.of_code() || stage.cacheable || !is_sample || !stage.output_bytes) return;
  const CachePlace place = place_after(stage, advice.chain(), memory_for_cache(advice));
  if (place.kept < kNegligible) return;
  const std::string limit = limit_gb(place.kept * place.needed_bytes);
  const double spared = place.kept * kReuse / (kReuse + 1);
  advice.add(propose(
      "reuse", stage.name, "train on each sample of " + stage.name + " three times",
      "what it draws is kept for two more epochs, which changes training; " + memory_text(place),
      {{"/stages/" + std::to_string(place.after),
        R"({"use": "cache.memory", "limit_gb": )" + limit + R"(, "reuse": )" +
            std::to_string(kReuse) + "}",
        EditKind::insert}},
      cached_after(advice.chain(), place.after, spared, place.bytes_per_sample)));
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
