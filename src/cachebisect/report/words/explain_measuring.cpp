#include <cmath>
#include <string>
#include <vector>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/format/figure_text.hpp"
#include "cachebisect/report/words/explained_numbers.hpp"

namespace cachebisect {
namespace {

using Numbers = std::vector<ExplainedNumber>;

void add_confidence(Numbers& numbers, const Report& report) {
  const std::string confidence = format_percent(report.settings.confidence);
  numbers.push_back(
      {"confidence: " + confidence,
       "Each interval holds the true value in at least " + confidence +
           " of runs. A stage that costs less than " + format_percent(report.settings.min_drop) +
           " (--min-drop) is named in at most " + format_percent(1 - report.settings.confidence) +
           " of them, however often the evidence is checked on the way."});
}

void add_rounds(Numbers& numbers, const Report& report) {
  if (report.verdict.rounds == 0) return;
  numbers.push_back({"rounds: " + std::to_string(report.verdict.rounds),
                     "In each round every row of the table is measured once, in a new order, so "
                     "that a machine that becomes slower or faster meanwhile does not look like a "
                     "drop."});
}

void add_detectable(Numbers& numbers, const Report& report) {
  if (!report.verdict.detectable_drop) return;
  numbers.push_back({"detectable drop: " + format_percent(*report.verdict.detectable_drop),
                     "The smallest drop that " + duration(report.settings.budget_seconds) +
                         " (--budget) can certify with the noise of this run. A smaller one may "
                         "exist and remain unnamed."});
}

std::string larger_cache(const std::optional<double>& change) {
  if (!change) return {};
  return " From twice as many samples, each step takes " + format_percent(std::abs(*change)) +
         (*change < 0 ? " less time" : " longer") +
         "; more than 1% would mean that too few are cached.";
}

void add_cache(Numbers& numbers, const Report& report) {
  const CacheFacts& cache = report.cache;
  if (cache.samples == 0) return;
  std::string held = format_bytes(cache.bytes_host) + " of memory";
  if (cache.bytes_device > 0) held += " and " + format_bytes(cache.bytes_device) + " of the device";
  std::string meaning =
      "What a row of the table is replayed from: the same samples after each "
      "stage, in " +
      held + ".";
  if (!cache.limited_by.empty()) {
    meaning += " The " + cache.limited_by + " allowed no more.";
  }
  numbers.push_back({"cache: " + format_count(cache.samples) + " samples",
                     meaning + larger_cache(report.k2k_change)});
}

void add_overhead(Numbers& numbers, const Report& report) {
  if (!report.overhead.value) return;
  numbers.push_back({"overhead: " + share_with_interval(report.overhead),
                     "What the clocks inside the stages cost the live pipeline: live with them "
                     "against live without."});
}

void add_noise(Numbers& numbers, const Report& report) {
  const Noise& noise = report.machine.noise;
  if (!noise.block_cv) return;
  std::string meaning =
      "How much the blocks of one row differ from each other on this machine "
      "(standard deviation over mean).";
  if (noise.null_drop.value) {
    meaning += " A row against itself, which is no drop at all, gave " +
               share_with_interval(noise.null_drop) + ".";
  }
  if (noise.steal_share.value_or(0) > 0) {
    meaning += " The host took " + format_percent(*noise.steal_share) +
               " of the processor time for other machines.";
  }
  numbers.push_back({"noise: " + format_percent(*noise.block_cv), meaning});
}

}  // namespace

Numbers explain_measuring(const Report& report) {
  Numbers numbers;
  add_confidence(numbers, report);
  add_rounds(numbers, report);
  add_detectable(numbers, report);
  add_cache(numbers, report);
  add_overhead(numbers, report);
  add_noise(numbers, report);
  return numbers;
}

std::vector<ExplainedNumber> explain_numbers(const Report& report) {
  std::vector<ExplainedNumber> numbers = explain_results(report);
  for (ExplainedNumber& number : explain_measuring(report)) numbers.push_back(std::move(number));
  return numbers;
}

}  // namespace cachebisect
