// A cache in a file, where memory does not hold all samples, or where later runs gain by it.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/advice/advice.hpp"
#include "cachebisect/bisect/advice/cache_place.hpp"
#include "cachebisect/bisect/advice/scratch_remedies.hpp"
#include "cachebisect/bisect/costs/cache_changes.hpp"

namespace cachebisect {
namespace {

/// What a sample from cache.disk costs a worker while its file is in memory, measured: 10 us for
/// 3 kB, 190 us for 550 kB.
constexpr CacheHit kFileHit{.seconds = 1e-5, .seconds_per_byte = 1 / 3e9};
/// An epoch at today's speed that is long enough for every run to begin without it.
constexpr double kLongEpochSeconds = 60;
/// Pages of cache.disk's file: small samples share one, large ones have some of their own.
constexpr double kFilePageBytes = 16384;
/// What a sample takes in the file besides its bytes: names, shapes and the row.
constexpr double kFileRowBytes = 128;
/// Pages that rows are put into in any order are not full, and there is an index: measured, 1.15.
constexpr double kFileFill = 1.25;
/// What cache.disk keeps free in its file, for its log and for one large sample.
constexpr double kFileLogBytes = 2 << 20;
constexpr double kLargestSampleBytes = 64 << 20;
constexpr double kLargestSampleShare = 1.0 / 16;
constexpr double kLeastFileBytes = 2e7;
constexpr double kFileStepBytes = 1e7;

double file_bytes_of(double bytes_per_sample) {
  const double row = bytes_per_sample + kFileRowBytes;
  if (row > kFilePageBytes) return row + kFilePageBytes;
  return kFileFill * kFilePageBytes / std::floor(kFilePageBytes / row);
}

/// The limit with which all samples are kept, in steps of 10 MB.
double file_limit_bytes(const CachePlace& place, double samples) {
  const double all = samples * file_bytes_of(place.bytes_per_sample);
  const double free =
      std::min(all * kLargestSampleShare / (1 - kLargestSampleShare), kLargestSampleBytes);
  return std::ceil(std::max(all + free + 2 * kFileLogBytes, kLeastFileBytes) / kFileStepBytes) *
         kFileStepBytes;
}

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

/// What the file's disk has to give where memory does not hold the file.
std::string disk_text(const Advice& advice, const CachePlace& place) {
  const auto& ceiling = advice.ceiling().value;
  if (!ceiling) return "";
  return "; where memory does not hold it, its disk has to give up to " +
         format_bytes(*ceiling * place.bytes_per_sample) + "/s";
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
  const auto samples = static_cast<double>(advice.chain().samples);
  const double limit = file_limit_bytes(*place, samples);
  std::vector<Edit> edits = advice.of_code() ? kept_in_code(advice, kDiskCacheSetting, place->after)
                                             : inserted_file(*place, limit);
  if (edits.empty()) return;
  CostChanges changes = cached_after(advice.chain(), place->after, 1, place->bytes_per_sample);
  if (!advice.of_code()) changes.added_seconds = served_seconds(hit, place->bytes_per_sample);
  advice.add(propose(kDiskCacheId, stage.name,
                     "keep samples in a file after " + advice.stages()[place->after - 1].name,
                     reason + "; the file takes " + format_bytes(limit) + disk_text(advice, *place),
                     std::move(edits), std::move(changes)));
}

}  // namespace cachebisect
