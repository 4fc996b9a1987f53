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
