#include "cachebisect/compare/comparison_words.hpp"

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/format/text_layout.hpp"

namespace cachebisect {
namespace {

constexpr std::size_t kMaxName = 60;

}  // namespace

std::string job_line(const ComparedJob& job) {
  return clipped(job.source, kMaxName) + ": " + clipped(job.pipeline, kMaxName) + ", device " +
         clipped(job.device, kMaxName) + ", batch " + std::to_string(job.batch_size) + ", " +
         std::to_string(job.workers) + (job.workers == 1 ? " worker" : " workers");
}

std::string method_line(const Comparison& comparison) {
  if (!comparison.paired) return "Measured in two sessions.";
  return "Measured in turns, in " + std::to_string(comparison.rounds) + " pairs of blocks (" +
         format_seconds(comparison.seconds) + ").";
}

std::string figure_name(const ComparedFigure& figure) {
  if (figure.stage.empty()) return figure.id;
  return figure.stage + ": " + figure.id.substr(figure.id.rfind('.') + 1);
}

bool is_shown(const ComparedFigure& figure) {
  return figure.a.value.has_value() || figure.b.value.has_value();
}

std::vector<std::string> remarks(const Comparison& comparison) {
  std::vector<std::string> all;
  for (const std::string& mismatch : comparison.mismatches) {
    all.push_back("not comparable, but forced: " + mismatch);
  }
  for (const std::string& note : comparison.notes) all.push_back(note);
  for (const std::string& noise : comparison.noise) {
    all.push_back("the machine was not steady (" + noise + ")");
  }
  return all;
}

std::string gate_line(const GateResult& gate) {
  const char* const outcome =
      gate.outcome == GateOutcome::undecided ? "not decided" : to_string(gate.outcome);
  return "gate " + gate.gate + ": " + outcome + ", " + gate.reason;
}

}  // namespace cachebisect
