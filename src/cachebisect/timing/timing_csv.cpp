#include <algorithm>

#include "cachebisect/format/csv_text.hpp"
#include "cachebisect/timing/timing_files.hpp"

namespace cachebisect {
namespace {

std::string whole(std::uint64_t value) { return std::to_string(value); }

std::string header() {
  std::vector<std::string> cells{"batch_size", "batch", "epoch", "samples"};
  for (const TimePart part : kAllTimeParts) {
    cells.push_back(csv_text(std::string(to_string(part)) + "_seconds"));
  }
  for (const char* const name :
       {"total_seconds", "samples_per_second", "wait_seconds", "copy_busy_seconds", "starved"}) {
    cells.push_back(csv_text(name));
  }
  return csv_row(cells);
}

std::string row(const TimingRecord& record, const TimedRun& run, const BatchTimes& batch) {
  std::vector<std::string> cells{whole(static_cast<std::uint64_t>(run.batch_size)),
                                 whole(batch.batch), whole(batch.epoch),
                                 whole(static_cast<std::uint64_t>(batch.samples))};
  for (const TimePart part : kAllTimeParts) {
    const bool measured = std::ranges::find(record.parts, part) != record.parts.end();
    cells.push_back(measured ? csv_number(batch.of(part)) : "");
  }
  cells.push_back(csv_number(batch.total_seconds));
  cells.push_back(csv_number(static_cast<double>(batch.samples) / batch.total_seconds));
  cells.push_back(csv_number(batch.wait_seconds));
  cells.push_back(record.of_script ? "" : csv_number(batch.copy_seconds));
  cells.emplace_back(record.of_script ? "" : batch.starved ? "1" : "0");
  return csv_row(cells);
}

}  // namespace

std::string timing_results_csv(const TimingRecord& record) {
  std::string text = header();
  for (const TimedRun& run : record.runs) {
    for (const BatchTimes& batch : run.batches) text += row(record, run, batch);
  }
  return text;
}

}  // namespace cachebisect
