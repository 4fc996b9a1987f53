#include "cachebisect/base/number_format.hpp"
#include "cachebisect/format/document/render.hpp"
#include "cachebisect/report/words/emulated_storage.hpp"
#include "cachebisect/timing/timing_files.hpp"
#include "cachebisect/timing/timing_findings.hpp"
#include "cachebisect/timing/timing_summary.hpp"

namespace cachebisect {
namespace {

std::string milliseconds(double seconds) { return format_number(1000 * seconds); }

std::string count_of(std::size_t count, const std::string& what) {
  const std::string ending = what == "batch" ? "es" : "s";
  return format_count(count) + ' ' + what + (count == 1 ? "" : ending);
}

std::string what_was_run(const TimingRecord& record) {
  std::string text = record.name + ": device " + record.device;
  if (record.emulated) text += " (its steps and copies take planned times)";
  if (record.generated_data) text += ", generated data";
  text += ", step " + record.step;
  const std::string storage = emulated_storage_text(record.config_json);
  return storage.empty() ? text : text + "; the storage is emulated (" + storage + ")";
}

std::string stopped_by(const char* option, const TimedRun& run) {
  std::string text = std::string("stopped by ") + option;
  if (run.planned_batches > 0) text += ", of " + format_count(run.planned_batches);
  return text;
}

std::string why_ended(const TimingRecord& record, const TimedRun& run) {
  switch (run.ended_by) {
    case LoopEnd::epochs:
      return count_of(static_cast<std::size_t>(record.epochs), "epoch");
    case LoopEnd::max_batches:
      return stopped_by("--max-batches", run);
    case LoopEnd::max_seconds:
      return stopped_by("--max-seconds", run);
    case LoopEnd::script:
      return "until the script ended";
    case LoopEnd::interrupted:
      return "interrupted";
  }
  return {};
}

std::string run_line(const TimingRecord& record, const TimedRun& run,
                     const TimingSummary& summary) {
  return "batch " + std::to_string(run.batch_size) + ", " +
         count_of(static_cast<std::size_t>(run.workers), "worker") + ": " +
         count_of(summary.batches, "batch") + " (" + why_ended(record, run) + ") in " +
         format_seconds(summary.seconds) + "; first batch after " +
         format_seconds(run.first_batch_seconds);
}

document::Row part_row(const std::string& name, const PartSummary& part) {
  return {name,
          milliseconds(part.mean),
          milliseconds(part.std),
          milliseconds(part.min),
          milliseconds(part.p50),
          milliseconds(part.p95),
          milliseconds(part.p99),
          milliseconds(part.max),
          format_percent(part.share)};
}

document::Table part_table(const TimingRecord& record, const TimingSummary& summary) {
  document::Table table{.columns = {{"ms per batch"}}};
  for (const char* const title : {"mean", "std", "min", "p50", "p95", "p99", "max", "share"}) {
    table.columns.push_back({title, Align::right});
  }
  for (std::size_t i = 0; i < record.parts.size(); ++i) {
    table.rows.push_back(part_row(std::string(to_string(record.parts[i])), summary.parts[i]));
  }
  table.rows.push_back(part_row("total", summary.total));
  return table;
}

std::string cost_text(const TimingCost& cost, const TimingSummary& summary) {
  if (!cost.call_seconds) return {};
  std::string text = "Timing costs " + short_duration(*cost.call_seconds) + " per batch, " +
                     format_percent(*cost.call_seconds / summary.total.mean) + " of it.";
  if (cost.share.value && cost.share.interval) {
    text += " In " + std::to_string(cost.pairs) +
            " pairs of blocks with and without it, in turns, those with it took " +
            percent_range(*cost.share.interval) + " longer (at 95%).";
  }
  return text;
}

void add_run(Document& all, const TimingRecord& record, const TimedRun& run) {
  const TimingSummary summary = summarise(run, record.parts);
  all.say(run_line(record, run, summary), 2);
  if (summary.batches == 0) {
    all.say("No batch was timed.");
    return;
  }
  all.gap();
  all.add(part_table(record, summary));
  all.gap();
  const std::string starved = "; " + format_percent(summary.starved_share) +
                              " of the batches were not ready when asked for";
  all.say(document::strong(rate(summary.total.samples_per_second.value_or(0)) + " samples/s") +
          (record.of_script ? "" : starved) + ".");
  all.say(cost_text(run.cost, summary));
  for (const TimingFinding& finding : timing_findings(record, summary)) {
    all.gap();
    all.say(as_sentence(finding.text));
    all.say(finding.remedy);
    if (!finding.command.empty()) all.add(document::Code{.lines = {finding.command}, .indent = 4});
  }
}

std::string memory_text(const std::optional<TimingMemory>& memory) {
  return memory ? format_bytes(memory->bytes) : "-";
}

/// One row per batch size.
document::Table size_table(const TimingRecord& record) {
  document::Table table;
  for (const char* const title :
       {"batch size", "workers", "batches", "ms, p50", "ms, p95", "samples/s", "load", "memory"}) {
    table.columns.push_back({title, Align::right});
  }
  for (const TimedRun& run : record.runs) {
    const TimingSummary summary = summarise(run, record.parts);
    const PartSummary* const load = find_part(summary, record.parts, TimePart::load);
    const double median = summary.total.p50;
    table.rows.push_back(
        {std::to_string(run.batch_size), std::to_string(run.workers), format_count(summary.batches),
         milliseconds(median), milliseconds(summary.total.p95),
         median > 0 ? rate(static_cast<double>(run.batch_size) / median) : "-",
         load == nullptr ? "-" : format_percent(load->share), memory_text(run.memory)});
  }
  return table;
}

void add_sizes(Document& all, const TimingRecord& record) {
  all.gap();
  all.add(size_table(record));
  all.gap();
  all.say("samples/s: of the median batch.");
  if (const auto exponent = size_exponent(record)) {
    all.say("The time per batch grows as the batch size to the power of " +
            format_fixed(*exponent, 2) +
            ": 1 would be in proportion, less means that larger batches are cheaper per sample.");
  }
  if (const auto& memory = record.runs.back().memory) {
    all.say(memory->of_device ? "Memory: all that is in use on the device."
                              : "Memory: the peak of this process, data and model included.");
  }
  all.say(cost_text(record.runs.front().cost, summarise(record.runs.front(), {})));
}

}  // namespace

std::string timing_text(const TimingRecord& record, const TextOptions& options) {
  Document all;
  all.say(what_was_run(record), 2);
  if (record.runs.size() > 1) {
    add_sizes(all, record);
  } else {
    for (const TimedRun& run : record.runs) add_run(all, record, run);
  }
  return to_text(all, options);
}

}  // namespace cachebisect
