#include "bench/habits/real_what_ifs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "bench/habits/sustained.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/statistics.hpp"
#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/replay/job/open_job.hpp"

namespace cachebisect::habits {
namespace {

/// A question, and the pipeline that answers it.
struct Question {
  std::string change;
  std::string pipeline;
};

std::vector<Question> questions_of(const HabitChain& chain) {
  std::vector<Question> questions;
  const StageText& waits = chain.stages[static_cast<std::size_t>(chain.first) - 1];
  if (chain.uses_workers && waits.without.empty()) {
    questions.push_back({waits.name + "=free", pipeline_json(chain, false)});
  }
  HabitChain wider = chain;
  const std::int64_t workers = chain.planted.chain.workers + 1;
  for (auto& [name, value] : wider.settings) {
    if (name == "workers") value = workers;
  }
  questions.push_back({"workers=" + std::to_string(workers), pipeline_json(wider)});
  return questions;
}

/// An estimate in samples/s as a gain over `live`.
Estimate gain_over(double live, const Estimate& rate) {
  Estimate gain;
  if (rate.value) gain.value = *rate.value / live;
  if (rate.interval)
    gain.interval = Interval{rate.interval->low / live, rate.interval->high / live};
  return gain;
}

Report ask(const HabitChain& chain, const std::vector<Question>& questions,
           const RunSettings& settings, const Registry& registry) {
  const Job job = open_job(Pipeline::from_json(pipeline_json(chain), registry), &registry);
  PipelineReplayer replayer = job.make_replayer();
  BisectOptions options;
  options.budget_seconds = settings.budget_seconds;
  options.seed = chain.planted.seed;
  options.verify = true;
  for (const Question& question : questions) options.what_ifs.push_back(question.change);
  return bisect(replayer, options);
}

std::string text_of(const Estimate& gain) {
  if (!gain.value) return "-";
  std::array<char, 64> text{};
  if (!gain.interval) {
    std::snprintf(text.data(), text.size(), "%.3f", *gain.value);
  } else {
    std::snprintf(text.data(), text.size(), "%.3f (%.3f-%.3f)", *gain.value, gain.interval->low,
                  gain.interval->high);
  }
  return text.data();
}

std::string line(const char* name, const std::vector<WhatIfCheck>& checks,
                 Estimate WhatIfCheck::*gain) {
  std::vector<double> errors;
  std::size_t covered = 0;
  std::size_t intervals = 0;
  for (const WhatIfCheck& check : checks) {
    const Estimate& estimate = check.*gain;
    if (!estimate.value) continue;
    errors.push_back(std::abs(*estimate.value / check.truth_gain - 1));
    if (!estimate.interval) continue;
    ++intervals;
    covered += check.covers(estimate) ? 1 : 0;
  }
  if (errors.empty()) return std::string(name) + ": none\n";
  std::array<char, 200> text{};
  std::snprintf(text.data(), text.size(),
                "%s: %zu answers, error median %.1f%%, worst %.1f%%; %zu of %zu intervals meet "
                "that of the fresh runs\n",
                name, errors.size(), 100 * median(errors),
                100 * *std::max_element(errors.begin(), errors.end()), covered, intervals);
  return text.data();
}

}  // namespace

bool WhatIfCheck::covers(const Estimate& gain) const {
  return gain.interval && gain.interval->low <= truth.high && truth.low <= gain.interval->high;
}

void check_what_ifs(const RunSettings& settings,
                    const std::function<void(const WhatIfCheck&)>& finished) {
  const Registry registry = habit_registry();
  for (std::uint64_t seed = settings.first_seed; seed <= settings.last_seed; ++seed) {
    for (const Habit& habit : settings.habits) {
      const DrawContext context{.folder = ".", .tuning = habit.tune(habit.name, seed, registry)};
      const HabitChain chain = habit.draw(habit.name, seed, context);
      const std::vector<Question> questions = questions_of(chain);
      const Report report = ask(chain, questions, settings, registry);
      for (std::size_t i = 0; i < questions.size() && report.live.value; ++i) {
        WhatIfCheck check{.chain = habit.name, .seed = seed, .change = questions[i].change};
        const WhatIfResult& answer = report.what_ifs.at(i);
        check.predicted = gain_over(*report.live.value, answer.predicted);
        check.verified = gain_over(*report.live.value, answer.measured);
        const Gain truth = measure_gain(pipeline_json(chain), questions[i].pipeline,
                                        settings.truth_seconds, registry);
        check.truth = truth.interval;
        check.truth_gain = truth.value;
        finished(check);
      }
    }
  }
}

std::string what_if_header() {
  return "| chain | seed | change | predicted | verified | fresh runs "
         "|\n|---|---|---|---|---|---|\n";
}

std::string row(const WhatIfCheck& check) {
  return "| " + check.chain + " | " + std::to_string(check.seed) + " | " + check.change + " | " +
         text_of(check.predicted) + " | " + text_of(check.verified) + " | " +
         text_of({check.truth_gain, check.truth}) + " |\n";
}

std::string summary(const std::vector<WhatIfCheck>& checks) {
  return line("predicted", checks, &WhatIfCheck::predicted) +
         line("verified", checks, &WhatIfCheck::verified);
}

}  // namespace cachebisect::habits
