// A cache in a file, where memory does not hold all samples, or where later runs gain by it.
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/advice/advice.hpp"
#include "cachebisect/bisect/advice/cache_place.hpp"
#include "cachebisect/bisect/advice/scratch_remedies.hpp"
#include "cachebisect/bisect/costs/cache_changes.hpp"
#include "cachebisect/bisect/costs/cache_file.hpp"
#include "cachebisect/protocol/job_setting_text.hpp"

namespace cachebisect {
namespace {

/// What a sample from cache.disk costs a worker while its file is in memory, measured: 10 us for
/// 3 kB, 190 us for 550 kB.
constexpr CacheHit kFileHit{.seconds = 1e-5, .seconds_per_byte = 1 / 3e9};
/// An epoch at today's speed that is long enough for every run to begin without it.
constexpr double kLongEpochSeconds = 60;

/// Seconds of an epoch as the job is now; 0 if unknown.
double epoch_seconds(const Advice& advice) {
  const double live = advice.live().value.value_or(0);
  return live > 0 ? static_cast<double>(advice.chain().samples) / live : 0;
}

/// Why a file, and not memory; empty if there is no reason.
std::string reason_for_file(const Advice& advice, const CachePlace& place) {
  const double room = memory_for_cache(advice);
  if (room > 0 && room < place.needed_bytes) {
    return "memory holds " + percent(room / place.needed_bytes) + " of the samples";
  }
  const double epoch = epoch_seconds(advice);
  if (epoch < kLongEpochSeconds) return "";
  return "a later run has its first epoch, which takes " + duration(epoch) +
         " now, at full speed too";
}

/// The limit with which all samples are kept.
double file_limit(const Advice& advice, const CachePlace& place) {
  if (advice.of_code()) return cache_file_limit(advice.chain_with_bytes(), place.after);
  return cache_file_limit(place.bytes_per_sample, static_cast<double>(advice.chain().samples));
}

/// What the file's disk has to give where memory does not hold the file.
std::string disk_text(const Advice& advice, const CachePlace& place) {
  const auto& ceiling = advice.ceiling().value;
  if (!ceiling) return "";
  return "; where memory does not hold it, its disk has to give up to " +
         format_bytes(*ceiling * place.bytes_per_sample) + "/s";
}

/// The line of a job in code, with the limit of the file.
std::vector<std::string> lines_in_code(const Advice& advice, const std::vector<Edit>& edits,
                                       double limit_bytes) {
  const JobSetting* const setting =
      advice.of_code() ? advice.chain().settings.at(kDiskCacheSetting) : nullptr;
  if (setting == nullptr || edits.empty()) return {};
  return {with_file_limit(code_line(*setting, edits.front().value), limit_bytes)};
}

std::vector<Edit> inserted_file(const CachePlace& place, double limit_bytes) {
  return {{"/stages/" + std::to_string(place.after),
           R"({"use": "cache.disk", "path": ")" + std::string(kScratchFolder) +
               R"(", "limit_gb": )" + format_exact(limit_bytes / 1e9) + "}",
           EditKind::insert}};
}

}  // namespace

void offer_disk_cache(Advice& advice, const StageReport& stage) {
  const CacheHit hit = advice.of_code() ? shared_hit(advice.chain()) : kFileHit;
  const auto place = best_cache_place(advice, stage, std::numeric_limits<double>::infinity(), hit);
  if (!place || place->spared_seconds <= 0) return;
  const std::string reason = reason_for_file(advice, *place);
  if (reason.empty()) return;
  const double limit = file_limit(advice, *place);
  std::vector<Edit> edits = advice.of_code() ? kept_in_code(advice, kDiskCacheSetting, place->after)
                                             : inserted_file(*place, limit);
  if (edits.empty()) return;
  CostChanges changes = cached_after(advice.chain(), place->after, 1, place->bytes_per_sample);
  if (!advice.of_code()) changes.added_seconds = served_seconds(hit, place->bytes_per_sample);
  Proposal proposal =
      propose(kDiskCacheId, stage.name,
              "keep samples in a file after " + advice.stages()[place->after - 1].name,
              reason + "; the file takes " + format_bytes(limit) + disk_text(advice, *place),
              std::move(edits), std::move(changes));
  proposal.remedy.lines = lines_in_code(advice, proposal.remedy.edits, limit);
  advice.add(std::move(proposal));
}

}  // namespace cachebisect
