#include "cachebisect/timing/timing_findings.hpp"

#include "cachebisect/base/number_format.hpp"

namespace cachebisect {
namespace {

/// Shares of the batch's time from which on "Training at Larger Scale", chapter 5, says to check
/// the data pipeline, and calls it bound by input (sections "Tips for Optimization" and "When to
/// Take Action").
constexpr double kCheckLoading = 0.30;
constexpr double kInputBound = 0.40;
constexpr double kCopyShare = 0.10;
constexpr double kSlowBatch = 3;  ///< p99 over the median
constexpr std::size_t kMinBatches = 50;

/// Next to each share of loading: what it does not say.
constexpr const char* kNotADrop =
    "A share of waiting is not a drop: without the wait the next limit appears, and workers that "
    "take cores from the step slow it without any wait. This finds the stage, and what mending it "
    "would give:";

void add_loading(const TimingRecord& record, const TimingSummary& summary,
                 std::vector<TimingFinding>& findings) {
  const PartSummary* const load = find_part(summary, record.parts, TimePart::load);
  if (load == nullptr) return;
  std::string text = "data loading takes " + format_percent(load->share) + " of a batch";
  if (load->share > kInputBound) {
    text += ", more than " + percent(kInputBound) + ": the input limits the training";
  } else if (load->share > kCheckLoading) {
    text += ", more than " + percent(kCheckLoading) + ": check the data pipeline and the loader";
  } else {
    text += ", less than " + percent(kCheckLoading);
  }
  findings.push_back({"load_share", text, kNotADrop, record.bisect_command});
}

void add_copying(const TimingRecord& record, const TimingSummary& summary,
                 std::vector<TimingFinding>& findings) {
  const PartSummary* const copy = find_part(summary, record.parts, TimePart::copy);
  if (copy == nullptr || copy->share <= kCopyShare) return;
  findings.push_back({"copy_share",
                      "the device waits for copies during " + percent(copy->share) + " of a batch",
                      "Copy from pinned memory, non-blocking, and one batch ahead."});
}

void add_slow_batches(const TimingSummary& summary, std::vector<TimingFinding>& findings) {
  const PartSummary& total = summary.total;
  if (summary.batches < kMinBatches || total.p99 <= kSlowBatch * total.p50) return;
  findings.push_back({"slow_batches",
                      "one batch in a hundred takes " + short_duration(total.p99) + " or more, " +
                          format_number(total.p99 / total.p50) + " times the median",
                      "Look for it in total_batch_time.png: a pattern names its cause (epoch ends, "
                      "a slow file, another process)."});
}

void add_whole_step(const TimingRecord& record, std::vector<TimingFinding>& findings) {
  for (const TimePart part : record.parts) {
    if (part != TimePart::step) continue;
    findings.push_back({"whole_step",
                        "this step does not tell forward, backward and optimizer apart",
                        "Its time is in the row 'step'."});
  }
}

}  // namespace

std::vector<TimingFinding> timing_findings(const TimingRecord& record,
                                           const TimingSummary& summary) {
  std::vector<TimingFinding> findings;
  if (summary.batches == 0) return findings;
  add_loading(record, summary, findings);
  add_copying(record, summary, findings);
  add_slow_batches(summary, findings);
  add_whole_step(record, findings);
  return findings;
}

}  // namespace cachebisect
