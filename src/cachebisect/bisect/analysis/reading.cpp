#include "cachebisect/bisect/analysis/reading.hpp"

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {
namespace {

void warn_of_warm_eviction(std::vector<Warning>& out, double share) {
  if (share <= kReportAbove) return;
  out.push_back({"not_cold",
                 percent(share) +
                     " of the pages that live blocks read were in memory after they had been "
                     "evicted: reading was not as cold as --io cold asks for",
                 "move the data off tmpfs or an overlay, stop other programs that read it, or read "
                 "the figures as --io as-is"});
}

void warn_of_refusals(std::vector<Warning>& out, const StorageCounts& counts) {
  const auto of_all = [&](std::uint64_t answers) {
    return std::to_string(answers) + " of " + counted(counts.requests, "request");
  };
  if (counts.throttled > 0) {
    out.push_back({"storage_throttled",
                   "storage answered " + of_all(counts.throttled) +
                       " with 429 or 503: it gives no more requests per second",
                   "ask for larger parts less often, spread them over more prefixes or servers, or "
                   "raise the limit"});
  }
  if (counts.failed > 0) {
    out.push_back({"failed_requests", of_all(counts.failed) + " failed", "see the server's log"});
  }
}

/// A data set larger than memory never has more than memory / size of its pages there.
void warn_of_colder_training(std::vector<Warning>& out, double share,
                             const std::optional<double>& data_set_bytes, double memory_bytes) {
  if (!data_set_bytes || memory_bytes <= 0 || *data_set_bytes <= memory_bytes) return;
  const double at_most = memory_bytes / *data_set_bytes;
  if (share <= at_most + kReportAbove) return;
  out.push_back({"warmer_than_training",
                 percent(share) +
                     " of the pages that live blocks read were in memory already, but training "
                     "finds at most " +
                     percent(at_most) + " there: the data set has about " +
                     format_bytes(*data_set_bytes) + ", memory " + format_bytes(memory_bytes) +
                     ". Training reads colder storage than was measured",
                 "--io cold"});
}

}  // namespace

std::optional<double> resident_share(const std::vector<BlockRecord>& records) {
  double sum = 0;
  int known = 0;
  for (const BlockRecord& record : records) {
    if (!record.shows_live() || !record.result.resident_share) continue;
    sum += *record.result.resident_share;
    ++known;
  }
  return known > 0 ? std::optional(sum / known) : std::nullopt;
}

std::vector<Warning> find_reading_warnings(const Measurements& measured, double memory_bytes) {
  std::vector<Warning> out;
  if (measured.storage) warn_of_refusals(out, *measured.storage);
  const auto share = resident_share(measured.blocks);
  if (!share) return out;
  if (measured.settings.io == "cold") {
    warn_of_warm_eviction(out, *share);
  } else {
    warn_of_colder_training(out, *share, measured.cache.data_set_bytes, memory_bytes);
  }
  return out;
}

}  // namespace cachebisect
