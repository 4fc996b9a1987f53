#include "bench/truth/what_if_score.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/statistics.hpp"
#include "cachebisect/bisect/costs/what_if.hpp"
#include "cachebisect/simulate/simulated_ring.hpp"

namespace cachebisect::truth {
namespace {

/// Scales the time of the copy.
void scale_copy(SimulatedChain& chain, double factor) {
  chain.source_bytes *= factor;
  chain.copy_latency_seconds *= factor;
  for (SimulatedStage& stage : chain.stages) stage.bytes *= factor;
}

std::string form_of(const std::string& change) {
  if (change.starts_with("workers")) return "workers";
  if (change.ends_with("=free")) return "free";
  return change.starts_with("train") ? "train/2" : "stage/2";
}

struct Figures {
  std::vector<double> errors;
  std::vector<double> widths;
  std::size_t covered = 0;
};

std::string line(const std::string& name, const Figures& figures) {
  const Interval rate = clopper_pearson(figures.covered, figures.errors.size(), 0.95);
  std::array<char, 200> text{};
  std::snprintf(
      text.data(), text.size(),
      "%-14s %5zu  %6.2f%%  %6.2f%%  %6.2f%%  %5zu  %6.2f%% (%.2f to %.2f%%)  %5.1f%%\n",
      name.c_str(), figures.errors.size(), 100 * median(figures.errors),
      100 * quantile(figures.errors, 0.95), 100 * quantile(figures.errors, 1), figures.covered,
      100 * static_cast<double>(figures.covered) / static_cast<double>(figures.errors.size()),
      100 * rate.low, 100 * rate.high, 100 * median(figures.widths));
  return text.data();
}

}  // namespace

double WhatIfScore::error() const { return std::abs(predicted / truth - 1); }

bool WhatIfScore::covered() const {
  return interval && interval->low <= truth && truth <= interval->high;
}

std::vector<std::string> what_ifs_of(const selftest::PlantedChain& planted) {
  const int workers = std::max(1, 2 * planted.chain.workers);
  if (planted.truth.planted.empty()) {
    return {"train/2", "workers=" + std::to_string(planted.chain.workers + 1)};
  }
  const auto description = describe(planted.chain);
  const std::string& stage =
      description.stages[static_cast<std::size_t>(planted.truth.largest) - 1].name;
  return {stage + "=free", stage + "/2", "workers=" + std::to_string(workers)};
}

SimulatedChain changed(const SimulatedChain& chain, const std::string& text) {
  const WhatIf what_if = parse_what_if(text, describe(chain));
  SimulatedChain out = chain;
  switch (what_if.kind) {
    case WhatIf::Kind::workers:
      out.workers = static_cast<int>(what_if.count);
      return out;
    case WhatIf::Kind::batch_size:
      out.batch_size = what_if.count;
      return out;
    case WhatIf::Kind::prefetch:
      out.ring_prefetch = static_cast<int>(what_if.count);
      return out;
    case WhatIf::Kind::step:
      out.step_seconds *= what_if.factor;
      out.trainer_seconds *= what_if.factor;
      return out;
    case WhatIf::Kind::stage:
      if (what_if.stage < out.stages.size()) {
        out.stages[what_if.stage].seconds *= what_if.factor;
      } else if (what_if.stage == out.stages.size()) {
        out.collate_seconds *= what_if.factor;
      } else if (what_if.stage + 1 == static_cast<std::size_t>(chain.boundaries())) {
        scale_copy(out, what_if.factor);
      }
      return out;
    case WhatIf::Kind::latency:
    case WhatIf::Kind::read_cache:
    case WhatIf::Kind::setting:
      break;
  }
  throw Error(ErrorKind::usage, text + " does not apply to a planted chain");
}

double true_rate(const SimulatedChain& chain) {
  const SimulatedRing ring(chain);
  return 1 / ring.seconds_per_sample(0, ring.constant() ? 64 : 1024);
}

namespace {

/// As true_rate(), for the planted stages in real time; empty if they cannot keep to a plan.
std::optional<double> planned_rate(const SimulatedChain& chain) {
  const auto truth = selftest::planned_truth(chain);
  if (!truth) return std::nullopt;
  const selftest::PlantedChain planned{.chain = chain, .truth = *truth};
  if (!leaves_cores_free(planned, chain.cores)) return std::nullopt;
  return 1 / truth->seconds_per_sample.front();
}

}  // namespace

std::vector<WhatIfScore> score_what_ifs(const Report& report, const selftest::PlantedChain& planted,
                                        WhatIfTruth truth) {
  std::vector<WhatIfScore> scores;
  if (report.what_ifs.empty() || !report.live.value) return scores;
  const double machine =
      truth == WhatIfTruth::gain ? *report.live.value / true_rate(planted.chain) : 1;
  for (const WhatIfResult& what_if : report.what_ifs) {
    if (!what_if.predicted.value) continue;
    const SimulatedChain after = changed(planted.chain, what_if.change);
    const auto rate =
        truth == WhatIfTruth::plan ? planned_rate(after) : std::optional(true_rate(after));
    if (!rate) continue;
    WhatIfScore score;
    score.change = what_if.change;
    score.planted = planted.truth.planted.empty() ? selftest::to_string(planted.truth.shape)
                                                  : planted.truth.planted;
    score.predicted = *what_if.predicted.value;
    score.interval = what_if.predicted.interval;
    if (what_if.measured.value) score.measured = what_if.measured;
    score.truth = machine * *rate;
    scores.push_back(std::move(score));
  }
  return scores;
}

std::string what_if_row(const WhatIfScore& s) {
  std::array<char, 200> text{};
  std::snprintf(text.data(), text.size(),
                "    what if %-16s %-9s predicted %10.1f (%.1f - %.1f)  truth %10.1f  %+6.2f%%%s\n",
                s.change.c_str(), s.planted.c_str(), s.predicted,
                s.interval ? s.interval->low : 0.0, s.interval ? s.interval->high : 0.0, s.truth,
                100 * (s.predicted / s.truth - 1), s.covered() ? "" : "  NOT COVERED");
  return text.data();
}

std::string what_if_summary(const std::vector<WhatIfScore>& scores) {
  std::map<std::string, Figures> groups;
  for (const WhatIfScore& score : scores) {
    for (const std::string& group :
         {std::string("all"), form_of(score.change), "of " + score.planted}) {
      Figures& figures = groups[group];
      figures.errors.push_back(score.error());
      figures.covered += score.covered() ? 1 : 0;
      if (score.interval) {
        figures.widths.push_back((score.interval->high - score.interval->low) / score.predicted);
      }
    }
  }
  std::string text =
      "what-ifs       count   median     p95      max  covered                           width\n";
  for (const auto& [name, figures] : groups) text += line(name, figures);
  return text;
}

}  // namespace cachebisect::truth
