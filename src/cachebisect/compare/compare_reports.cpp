#include "cachebisect/compare/compare_reports.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/compare/findings.hpp"
#include "cachebisect/compare/gate.hpp"
#include "cachebisect/compare/mismatches.hpp"
#include "cachebisect/compare/report_figures.hpp"
#include "cachebisect/compare/stage_matches.hpp"
#include "cachebisect/report/words/emulated_storage.hpp"

namespace cachebisect {
namespace {

/// Codes of warnings that make a difference between two sessions doubtful.
constexpr std::array<std::string_view, 12> kNoise{
    "unsteady",        "not_stationary", "not_sustained",        "other_load",       "steal",
    "frequency",       "clock_of_arms",  "device_clock_of_arms", "device_throttled", "throttled",
    "memory_pressure", "suspended"};

/// Warnings of other machines of the job: "node_steal".
constexpr std::string_view kOfNode = "node_";

bool is_noise(std::string_view code) {
  if (code.starts_with(kOfNode)) code.remove_prefix(kOfNode.size());
  return std::ranges::find(kNoise, code) != kNoise.end();
}

/// Blocks that vary by more than this are not those of a quiet machine.
constexpr double kQuietCv = 0.03;

ComparedJob job_of(const ReportSource& source) {
  const Report& report = *source.report;
  return {.source = source.name,
          .pipeline = report.chain.name,
          .device = report.chain.device_name,
          .batch_size = report.chain.batch_size,
          .workers = report.chain.workers,
          .started = report.started,
          .verdict = report.verdict.text};
}

void add_noise(const Report& report, const std::string& side, std::vector<std::string>& noise) {
  for (const Warning& warning : report.warnings) {
    if (is_noise(warning.code)) noise.push_back(side + ": " + warning.code);
  }
  const double cv = report.machine.noise.block_cv.value_or(0);
  if (cv > kQuietCv) noise.push_back(side + ": blocks vary by " + percent(cv));
}

void note_if(bool holds, const std::string& text, std::vector<std::string>& notes) {
  if (holds) notes.push_back(text);
}

std::vector<std::string> notes_of(const Report& a, const Report& b, const StageMatches& matches) {
  std::vector<std::string> notes;
  const auto count = [](int number) { return std::to_string(number); };
  note_if(a.chain.workers != b.chain.workers,
          "workers: " + count(a.chain.workers) + " in A, " + count(b.chain.workers) + " in B",
          notes);
  note_if(a.chain.loader != b.chain.loader, "the loaders differ", notes);
  note_if(a.chain.generated_data != b.chain.generated_data, "one of the two reads generated data",
          notes);
  note_if(emulated_storage_text(a.chain.effective_json) !=
              emulated_storage_text(b.chain.effective_json),
          "the emulated storage differs", notes);
  note_if(a.interrupted, "the run of A was interrupted", notes);
  note_if(b.interrupted, "the run of B was interrupted", notes);
  std::ranges::move(matches.notes_of_renamed(), std::back_inserter(notes));
  std::ranges::move(matches.notes_of_unmatched(), std::back_inserter(notes));
  return notes;
}

}  // namespace

Comparison compare(const ReportSource& a, const ReportSource& b, const CompareOptions& options) {
  std::vector<Gate> gates;
  for (const std::string& text : options.gates) gates.push_back(parse_gate(text));
  Comparison comparison;
  comparison.a = job_of(a);
  comparison.b = job_of(b);
  comparison.mismatches = mismatches(*a.report, *b.report);
  refuse_unless_comparable(comparison.mismatches, options.force);
  comparison.confidence = options.confidence.value_or(a.report->settings.confidence);
  const StageMatches matches(identities_of(a.report->stages), identities_of(b.report->stages));
  comparison.notes = notes_of(*a.report, *b.report, matches);
  add_noise(*a.report, "A", comparison.noise);
  add_noise(*b.report, "B", comparison.noise);
  comparison.figures = report_figures(*a.report, *b.report, matches, comparison.confidence);
  comparison.findings = describe_changes(comparison);
  for (const Gate& gate : gates) {
    comparison.gates.push_back(judge_gate(gate, comparison.figures, comparison.noise));
  }
  return comparison;
}

}  // namespace cachebisect
