#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/printable.hpp"
#include "cachebisect/format/text_page.hpp"
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
  std::string text = printable(record.name) + ": device " + printable(record.device);
  if (record.emulated) text += " (its steps and copies take planned times)";
  if (record.generated_data) text += ", generated data";
  return text + ", step " + printable(record.step);
}

std::string stopped_by(const char* option, const TimedRun& run) {
  std::string text = std::string("stopped by ") + option;
  if (run.planned_batches > 0) text += ", of " + format_count(run.planned_batches);
  return text;
}

std::string why_ended(const TimingRecord& record, const TimedRun& run) {
  switch (run.ended_by) {
    case TimingEnd::epochs:
      return count_of(static_cast<std::size_t>(record.epochs), "epoch");
    case TimingEnd::max_batches:
      return stopped_by("--max-batches", run);
    case TimingEnd::max_seconds:
      return stopped_by("--max-seconds", run);
    case TimingEnd::script:
      return "until the script ended";
    case TimingEnd::interrupted:
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

void add_row(TextTable& table, const std::string& name, const PartSummary& part) {
  table.add({name, milliseconds(part.mean), milliseconds(part.std), milliseconds(part.min),
             milliseconds(part.p50), milliseconds(part.p95), milliseconds(part.p99),
             milliseconds(part.max), format_percent(part.share)});
}

std::string part_table(const TimingRecord& record, const TimingSummary& summary,
                       const TextPage& page) {
  TextTable table({{"ms per batch", Align::left},
                   {"mean", Align::right},
                   {"std", Align::right},
                   {"min", Align::right},
                   {"p50", Align::right},
                   {"p95", Align::right},
                   {"p99", Align::right},
                   {"max", Align::right},
                   {"share", Align::right}});
  for (std::size_t i = 0; i < record.parts.size(); ++i) {
    add_row(table, std::string(to_string(record.parts[i])), summary.parts[i]);
  }
  add_row(table, "total", summary.total);
  return table.to_text(page.paint, page.columns);
}

std::string cost_text(const TimingCost& cost, const TimingSummary& summary, const TextPage& page) {
  if (!cost.call_seconds) return {};
  std::string text = "Timing costs " + short_duration(*cost.call_seconds) + " per batch, " +
                     format_percent(*cost.call_seconds / summary.total.mean) + " of it.";
  if (cost.share.value && cost.share.interval) {
    text += " In " + std::to_string(cost.pairs) +
            " pairs of blocks with and without it, in turns, those with it took " +
            percent_range(*cost.share.interval) + " longer (at 95%).";
  }
  return wrap(text, page.prose, 0);
}

std::string run_text(const TimingRecord& record, const TimedRun& run, const TextPage& page) {
  const TimingSummary summary = summarise(run, record.parts);
  std::string text = wrap(run_line(record, run, summary), page.prose, 2);
  if (summary.batches == 0) return text + "No batch was timed.\n";
  text += '\n' + part_table(record, summary, page) + '\n';
  text += page.paint.bold(rate(summary.total.samples_per_second.value_or(0)) + " samples/s");
  if (!record.of_script) {
    text += "; " + format_percent(summary.starved_share) +
            " of the batches were not ready when asked for";
  }
  text += ".\n";
  text += cost_text(run.cost, summary, page);
  for (const TimingFinding& finding : timing_findings(record, summary)) {
    text +=
        '\n' + wrap(as_sentence(finding.text), page.prose, 0) + wrap(finding.remedy, page.prose, 0);
    if (!finding.command.empty()) text += "    " + printable(finding.command) + '\n';
  }
  return text;
}

std::string memory_text(const std::optional<TimingMemory>& memory) {
  return memory ? format_bytes(memory->bytes) : "-";
}

/// One row per batch size.
std::string sizes_text(const TimingRecord& record, const TextPage& page) {
  TextTable table({{"batch size", Align::right},
                   {"workers", Align::right},
                   {"batches", Align::right},
                   {"ms, p50", Align::right},
                   {"ms, p95", Align::right},
                   {"samples/s", Align::right},
                   {"load", Align::right},
                   {"memory", Align::right}});
  for (const TimedRun& run : record.runs) {
    const TimingSummary summary = summarise(run, record.parts);
    const PartSummary* const load = find_part(summary, record.parts, TimePart::load);
    const double median = summary.total.p50;
    table.add({std::to_string(run.batch_size), std::to_string(run.workers),
               format_count(summary.batches), milliseconds(median), milliseconds(summary.total.p95),
               median > 0 ? rate(static_cast<double>(run.batch_size) / median) : "-",
               load == nullptr ? "-" : format_percent(load->share), memory_text(run.memory)});
  }
  std::string text =
      table.to_text(page.paint, page.columns) + "\nsamples/s: of the median batch.\n";
  const auto exponent = size_exponent(record);
  if (exponent) {
    text += wrap("The time per batch grows as the batch size to the power of " +
                     format_fixed(*exponent, 2) +
                     ": 1 would be in proportion, less means that larger batches are "
                     "cheaper per sample.",
                 page.prose, 0);
  }
  const auto& memory = record.runs.back().memory;
  if (memory) {
    text += memory->of_device ? "Memory: all that is in use on the device.\n"
                              : "Memory: the peak of this process, data and model included.\n";
  }
  return text;
}

}  // namespace

std::string timing_text(const TimingRecord& record, const TextOptions& options) {
  const TextPage page(options);
  std::string text = wrap(what_was_run(record), page.prose, 2);
  if (record.runs.size() > 1) {
    return text + '\n' + sizes_text(record, page) +
           cost_text(record.runs.front().cost, summarise(record.runs.front(), {}), page);
  }
  for (const TimedRun& run : record.runs) text += run_text(record, run, page);
  return text;
}

}  // namespace cachebisect
