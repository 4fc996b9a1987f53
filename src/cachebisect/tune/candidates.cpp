#include "cachebisect/tune/candidates.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "cachebisect/base/machine.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/number_parse.hpp"
#include "cachebisect/bisect/advice/remedies.hpp"
#include "cachebisect/bisect/advice/scratch_remedies.hpp"
#include "cachebisect/protocol/job_setting_text.hpp"
#include "cachebisect/tune/climb.hpp"

namespace cachebisect::tune {
namespace {

/// Predicted gains that differ by less are taken to be the same.
constexpr double kSameGain = 0.02;

/// What a version of `rate` gains on the job as it is, as a share.
Estimate gain_of(const Estimate& rate, const Report& report) {
  const Estimate now = reached_by(report);
  if (!rate.value || !now.value || !(*now.value > 0)) return {};
  Estimate gain = shifted(scaled(rate, 1 / *now.value), -1);
  // The live pipeline in short blocks is part of the prediction; a run in one piece is not.
  if (gain.interval && report.live_sustained && now.interval && now.interval->low > 0) {
    gain.interval = {rate.interval->low / now.interval->high - 1,
                     rate.interval->high / now.interval->low - 1};
  }
  return gain;
}

/// The samples/s of a version that gains so much on the live pipeline.
Estimate rate_after(const Estimate& gained, const Report& report) {
  return report.live.value ? shifted(gained, *report.live.value) : Estimate{};
}

/// What a live arm of a job in code changes, by the paths of its settings.
std::vector<Edit> edits_of(const Arm& arm, const JobSettings& settings) {
  std::vector<Edit> edits;
  edits.reserve(arm.overrides.size());
  for (const auto& [name, value] : arm.overrides) {
    const JobSetting* const setting = settings.find(name);
    std::string path = "/" + (setting == nullptr ? name : setting->path);
    std::ranges::replace(path, '.', '/');
    edits.push_back({std::move(path), value});
  }
  return edits;
}

/// The stage behind which `prepare` writes the data set if this remedy is tried; empty: it does
/// not.
std::string written_after(const Remedy& remedy, const JobSettings& settings) {
  constexpr std::array<std::string_view, 2> kPrepared{"prepare", "large_files"};
  if (remedy.arm && remedy.arm->overrides.contains(kPreparedSetting)) return remedy.stage;
  const bool writes = settings.of_file && remedy.edits.empty() && !remedy.lines.empty() &&
                      std::ranges::find(kPrepared, remedy.id) != kPrepared.end();
  return writes ? remedy.stage : "";
}

Trial trial_of(const Remedy& remedy, const Report& report) {
  const bool of_code = remedy.edits.empty() && remedy.arm;
  const std::string after = written_after(remedy, report.chain.settings);
  return {.id = remedy.id,
          .text = remedy.text,
          .edits = of_code ? edits_of(*remedy.arm, report.chain.settings) : remedy.edits,
          .lines = of_code || after.empty() ? remedy.lines : std::vector<std::string>{},
          .predicted = gain_of(rate_after(remedy.predicted, report), report),
          .written_after = after};
}

/// "workers=", or what the job calls it.
std::string workers_prefix(const JobSettings& settings) {
  return override_name(settings, "workers").value_or("workers") + "=";
}

/// A what-if about the count of workers that was predicted.
std::optional<Trial> trial_of(const WhatIfResult& what_if, const Report& report) {
  const std::string_view change = what_if.change;
  const std::string prefix = workers_prefix(report.chain.settings);
  if (!change.starts_with(prefix) || !what_if.predicted.value) return std::nullopt;
  const auto count = parse_number<int>(change.substr(prefix.size()));
  if (!count) return std::nullopt;
  const std::string value = std::to_string(*count);
  const JobSettings& settings = report.chain.settings;
  return Trial{.id = "workers",
               .text = "use " + counted(static_cast<std::uint64_t>(*count), "worker") +
                       " instead of " + std::to_string(report.chain.workers),
               .edits = {{"/workers", value}},
               .lines = settings.of_file ? std::vector<std::string>{}
                                         : std::vector{setting_text(settings, "workers", value)},
               .predicted = gain_of(what_if.predicted, report)};
}

bool same_change(const Trial& a, const Trial& b) {
  return a.written_after == b.written_after &&
         std::ranges::equal(a.edits, b.edits, [](const Edit& x, const Edit& y) {
           return x.path == y.path && x.value == y.value && x.kind == y.kind;
         });
}

/// By the cost model it most likely gains too little.
bool is_worthless(const Trial& trial) {
  return trial.predicted.value && *trial.predicted.value < kLeastGain;
}

void add(std::vector<Trial>& all, Trial trial) {
  const bool known =
      std::ranges::any_of(all, [&](const Trial& t) { return same_change(t, trial); });
  const bool runs = !trial.edits.empty() || !trial.written_after.empty();
  if (runs && !known && !is_worthless(trial)) all.push_back(std::move(trial));
}

/// The lower end of the predicted gain, in steps; what is not predicted ranks between what gains
/// and what may lose.
double rank(const Trial& trial) {
  const auto& [value, interval] = trial.predicted;
  const double least = interval ? interval->low : value.value_or(0);
  return std::floor(least / kSameGain);
}

}  // namespace

Estimate reached_by(const Report& report) {
  return report.live_sustained ? report.live_sustained->samples_per_second : report.live;
}

std::vector<std::string> questions(const ChainDescription& chain, double usable_cpus) {
  const int workers = chain.workers;
  const std::string prefix = workers_prefix(chain.settings);
  const int cores = whole_cpus(usable_cpus);
  std::vector<int> counts{workers / 2, workers + 1, 2 * workers, cores, 2 * cores, 4 * cores};
  std::ranges::sort(counts);
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  std::vector<std::string> asked;
  asked.reserve(counts.size());
  for (const int count : counts) {
    if (count > 0 && count != workers) asked.push_back(prefix + std::to_string(count));
  }
  return asked;
}

std::vector<Trial> candidates(const Report& report, bool allow_semantic) {
  std::vector<Trial> all;
  const bool flat = report.verdict.kind == VerdictKind::flat;
  for (const WhatIfResult& what_if : report.what_ifs) {
    if (flat) break;  // No count of workers gains there.
    if (auto trial = trial_of(what_if, report)) add(all, std::move(*trial));
  }
  for (const Remedy& remedy : report.remedies) {
    if (allow_semantic || !is_semantic(remedy.id)) add(all, trial_of(remedy, report));
  }
  std::ranges::stable_sort(all, std::greater{}, rank);
  return all;
}

}  // namespace cachebisect::tune
