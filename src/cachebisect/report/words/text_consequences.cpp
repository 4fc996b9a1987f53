#include "cachebisect/report/words/text_consequences.hpp"

#include <algorithm>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/format/figure_text.hpp"
#include "cachebisect/report/words/storage_text.hpp"

namespace cachebisect {
namespace {

constexpr std::size_t kMostFunctions = 5;
constexpr const char* kStarvation = "starvation (the step waits for data)";
constexpr const char* kContention = "contention (loading slows the step down)";

const StageReport* fixed_first(const Report& report) {
  const auto found =
      std::find_if(report.stages.begin(), report.stages.end(),
                   [&](const StageReport& s) { return s.name == report.verdict.fix_first; });
  return found == report.stages.end() || !found->payoff.value ? nullptr : &*found;
}

std::string payoff_sentence(const Report& report) {
  const StageReport* const stage = fixed_first(report);
  if (stage == nullptr) return {};
  std::string text = "Fixing " + stage->name + " alone would give " +
                     rate_with_interval(stage->payoff, " to ") + " samples/s";
  if (report.next_stage.empty()) return text + ".";
  const bool step = report.next_stage == "training step";
  return text + "; then " + (step ? "the training step" : report.next_stage) + " limits.";
}

/// True if the interval includes 0.
bool may_be_none(const Estimate& share) { return share.interval && share.interval->low <= 0; }

std::string all_but(const Report& report, const char* all, const char* other,
                    const Estimate& rest) {
  return "All of the " + format_percent(*report.loss.total.value) + " lost is " + all + "; " +
         other + " is at most " + percent_at_most(std::max(0.0, rest.interval->high)) + ".";
}

std::string loss_sentence(const Report& report) {
  const Loss& loss = report.loss;
  const bool lost = loss.total.interval && loss.total.interval->low > 0;
  if (!lost || !loss.starvation.value || !loss.contention.value) return {};
  if (may_be_none(loss.contention)) {
    return all_but(report, kStarvation, kContention, loss.contention);
  }
  if (may_be_none(loss.starvation)) {
    return all_but(report, kContention, kStarvation, loss.starvation);
  }
  return "The " + format_percent(*loss.total.value) + " lost is " +
         format_percent(*loss.starvation.value) + " " + kStarvation + " and " +
         format_percent(*loss.contention.value) + " " + kContention + ".";
}

std::string cost_sentence(const Report& report) {
  const CostOfLoss cost = cost_of_loss(report);
  if (cost.amount.empty()) return {};
  if (!cost.certain) return "The loss costs " + cost.amount + ".";
  const Interval& lost = *report.cost->lost_per_hour.interval;
  return "The " + format_percent(*report.loss.total.value) + " lost costs " + cost.amount + " ($" +
         format_amount(lost.low) + " to $" + format_amount(lost.high) + ").";
}

/// "train.py:88".
std::string place(const StepFunction& function) {
  return function.file.substr(function.file.find_last_of('/') + 1) + ":" +
         std::to_string(function.line);
}

std::string step_sentence(const Report& report) {
  const std::size_t count = std::min(report.step_functions.size(), kMostFunctions);
  if (count == 0) return {};
  std::string text = "On the host, a training step spends its time in";
  for (std::size_t i = 0; i < count; ++i) {
    const StepFunction& function = report.step_functions[i];
    text += i == 0 ? " " : i + 1 == count ? " and " : ", ";
    text += function.name + " (" + place(function) + ", " + format_percent(function.share) + ")";
  }
  return text + ".";
}

constexpr const char* kHowTheyDiffer =
    "(Lost here: with all stages before it free. Fixing: with it alone free. Starvation and "
    "contention: of the whole loss. Then: the limit after that.)";

}  // namespace

CostOfLoss cost_of_loss(const Report& report) {
  const VerdictKind kind = report.verdict.kind;
  if (!report.cost || kind == VerdictKind::anomaly) return {};
  const Estimate& lost = report.cost->lost_per_hour;
  if (!lost.value || !lost.interval || lost.interval->high <= 0) return {};
  const bool names_loss = kind == VerdictKind::drop || kind == VerdictKind::spread;
  const bool certain = names_loss && lost.interval->low > 0;
  const std::string amount =
      certain ? "$" + format_amount(*lost.value) : "at most $" + format_amount(lost.interval->high);
  return {amount + " of every $" + format_amount(report.cost->per_hour), certain};
}

std::vector<std::string> consequences(const Report& report) {
  const std::string cost = cost_sentence(report);
  const std::string payoff = payoff_sentence(report);
  const std::string loss = loss_sentence(report);
  const std::string step = step_sentence(report);
  const std::string storage = storage_text(report);
  std::vector<std::string> sentences;
  if (!cost.empty()) sentences.push_back(cost);
  if (!payoff.empty()) sentences.push_back(payoff);
  if (!loss.empty()) sentences.push_back(loss);
  if (!step.empty()) sentences.push_back(step);
  if (!storage.empty()) sentences.push_back(storage);
  if (!payoff.empty()) sentences.emplace_back(kHowTheyDiffer);
  return sentences;
}

}  // namespace cachebisect
