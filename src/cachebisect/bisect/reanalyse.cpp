#include "cachebisect/bisect/reanalyse.hpp"

#include <algorithm>

#include "cachebisect/base/error.hpp"
#include "cachebisect/bisect/analysis.hpp"
#include "cachebisect/bisect/assemble.hpp"
#include "cachebisect/bisect/record/check_settings.hpp"
#include "cachebisect/bisect/record/measurements.hpp"

namespace cachebisect {
namespace {

void apply(const ReanalyseOptions& options, Measurements& measured) {
  BisectSettings& settings = measured.settings;
  settings.min_drop = options.min_drop.value_or(settings.min_drop);
  settings.confidence = options.confidence.value_or(settings.confidence);
  check_settings(settings);
  Questions& questions = measured.questions;
  if (options.expect_samples_per_second) {
    questions.expect_samples_per_second = options.expect_samples_per_second;
  }
  if (options.cost_per_hour) questions.cost_per_hour = options.cost_per_hour;
  for (const std::string& text : options.what_ifs) questions.what_ifs.push_back(text);
}

/// What ended a run before its verdict is told by the report alone.
void keep_failure(const Report& from, Report& to) {
  const auto failed = [](const Warning& warning) { return warning.code == "run_failed"; };
  const auto known = std::ranges::find_if(from.warnings, failed);
  if (known == from.warnings.end() || std::ranges::any_of(to.warnings, failed)) return;
  to.warnings.push_back(*known);
}

}  // namespace

Report reanalyse(const Report& report, const ReanalyseOptions& options) {
  if (!report.recording) {
    throw Error(ErrorKind::usage,
                "the report has no recording: it was written by an older version; run it again");
  }
  Measurements measured = *report.recording;
  apply(options, measured);
  Report again = assemble(measured, analyse(measured));
  again.command = report.command;
  again.timing = report.timing;
  keep_failure(report, again);
  return again;
}

}  // namespace cachebisect
