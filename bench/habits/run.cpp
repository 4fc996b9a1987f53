#include "bench/habits/run.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "bench/habits/plan.hpp"
#include "bench/habits/sustained.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/replay/job/open_job.hpp"
#include "cachebisect/report/writers.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"
#include "cachebisect/stages.hpp"

namespace cachebisect::habits {
namespace {

constexpr const char* kMode = "habits, real time";
constexpr const char* kSimulatedMode = "habits, virtual time";
constexpr double kSimulatedCv = 0.01;  ///< of the white noise of each block

using Case = std::pair<std::string, std::uint64_t>;  ///< habit and seed

Case case_of(const HabitScore& score) { return {score.score.planted, score.score.seed}; }

/// A new folder, removed with its content.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "habits-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw Error(ErrorKind::output, "cannot make a folder like " + name);
    }
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

/// The scores and the measured truths so far, and the file that keeps them.
class HabitLog {
 public:
  explicit HabitLog(const RunSettings& settings)
      : lines_(truth::new_score_file("bisect", settings.simulated ? kSimulatedMode : kMode,
                                     settings.budget_seconds),
               settings.resume) {
    for (const std::string& line : lines_.lines()) {
      if (is_truth(line)) {
        NamedTruth named = truth_of(line);
        truths_[{named.habit, named.seed}] = std::move(named.truth);
      } else {
        keep(habit_score_of(line));
      }
    }
  }

  [[nodiscard]] bool holds(const Case& which) const { return judged_.contains(which); }
  [[nodiscard]] std::optional<HabitTruth> truth(const Case& which) const {
    const auto found = truths_.find(which);
    return found == truths_.end() ? std::nullopt : std::optional(found->second);
  }
  void add(const Case& which, const HabitTruth& truth) {
    lines_.append(to_line(truth, which.first, which.second));
  }
  void add(const HabitScore& score) {
    lines_.append(to_line(score));
    keep(score);
  }
  [[nodiscard]] std::vector<HabitScore> take() { return std::move(scores_); }

 private:
  void keep(HabitScore score) {
    judged_.insert(case_of(score));
    scores_.push_back(std::move(score));
  }

  truth::ScoreLines lines_;
  std::map<Case, HabitTruth> truths_;
  std::set<Case> judged_;
  std::vector<HabitScore> scores_;
};

void keep_report(const Report& report, const HabitChain& chain, const std::string& folder) {
  if (folder.empty()) return;
  const std::string name = chain.habit + "-" + std::to_string(chain.planted.seed) + ".json";
  std::ofstream file(std::filesystem::path(folder) / name);
  write_json(report, file);
  if (!file.flush()) throw Error(ErrorKind::output, "cannot write " + name + " in " + folder);
}

HabitScore bisect_and_judge(Replayer& replayer, const HabitChain& chain, const HabitTruth& truth,
                            double budget_seconds, const std::string& reports) {
  BisectOptions options;
  options.budget_seconds = budget_seconds;
  options.seed = chain.planted.seed;
  Report report;
  try {
    report = bisect(replayer, options);
  } catch (const Error& error) {
    return judge_error(error.what(), chain, truth);
  }
  keep_report(report, chain, reports);
  return judge(report, chain, truth);
}

/// As a user would, on a pipeline that no run has touched before.
HabitScore run_pipeline(const HabitChain& chain, const HabitTruth& truth, const Registry& registry,
                        double budget_seconds, const std::string& reports) {
  const Job job = open_job(Pipeline::from_json(pipeline_json(chain), registry), &registry);
  PipelineReplayer replayer = job.make_replayer();
  return bisect_and_judge(replayer, chain, truth, budget_seconds, reports);
}

HabitScore simulate_case(const Habit& habit, std::uint64_t seed, const RunSettings& settings) {
  if (!habit.simulates) {
    throw Error(ErrorKind::usage, habit.name + " has more to it than costs: run it in real time");
  }
  const HabitChain chain = habit.draw(habit.name, seed, {});
  SimulatedReplayer replayer(chain.planted.chain,
                             {.seed = seed, .noise = {.white_cv = kSimulatedCv}});
  return bisect_and_judge(replayer, chain, plan_truth(chain), settings.budget_seconds,
                          settings.reports);
}

HabitScore run_case(const Habit& habit, std::uint64_t seed, const RunSettings& settings,
                    const Registry& registry, HabitLog& log) {
  const ScratchFolder folder;
  std::optional<HabitTruth> truth = log.truth({habit.name, seed});
  DrawContext context{.folder = folder.path(), .tuning = {}};
  if (truth) {
    context.tuning = truth->tuning;
  } else if (habit.tune != nullptr) {
    context.tuning = habit.tune(habit.name, seed, registry);
  }
  const HabitChain chain = habit.draw(habit.name, seed, context);
  if (!truth && chain.measured) {
    truth = measure_truth(chain, settings.truth_seconds, registry);
    truth->tuning = context.tuning;
    log.add({habit.name, seed}, *truth);
  }
  if (!truth) truth = plan_truth(chain);
  if (chain.earlier_seconds > 0) {
    static_cast<void>(run_pipeline(chain, *truth, registry, chain.earlier_seconds, ""));
  }
  return run_pipeline(chain, *truth, registry, settings.budget_seconds, settings.reports);
}

}  // namespace

std::vector<HabitScore> run_habits(const RunSettings& settings,
                                   const std::function<void(const HabitScore&)>& finished) {
  HabitLog log(settings);
  const Registry registry = habit_registry();
  for (std::uint64_t seed = settings.first_seed; seed <= settings.last_seed; ++seed) {
    for (const Habit& habit : settings.habits) {
      if (log.holds({habit.name, seed})) continue;
      const HabitScore score = settings.simulated ? simulate_case(habit, seed, settings)
                                                  : run_case(habit, seed, settings, registry, log);
      log.add(score);
      finished(score);
    }
  }
  return log.take();
}

void check_plans(const RunSettings& settings,
                 const std::function<void(const PlanCheck&)>& finished) {
  const Registry registry = habit_registry();
  for (const Habit& habit : settings.habits) {
    for (std::uint64_t seed = settings.first_seed; seed <= settings.last_seed; ++seed) {
      const ScratchFolder folder;
      if (habit.tune != nullptr) continue;
      const HabitChain chain =
          habit.draw(habit.name, seed, {.folder = folder.path(), .tuning = {}});
      if (chain.measured) continue;
      const selftest::Truth planned = plan_truth(chain).truth;
      const double live =
          sustained_seconds_per_sample(pipeline_json(chain), settings.truth_seconds, registry);
      finished({habit.name, seed, planned.loss, 1 - planned.seconds_per_sample.back() / live});
    }
  }
}

HabitFile load_habits(const std::string& file) {
  HabitFile result;
  for (const std::string& line : truth::read_lines(file, result.made)) {
    if (!is_truth(line)) result.scores.push_back(habit_score_of(line));
  }
  return result;
}

Registry habit_registry() {
  Registry registry;
  stages::register_all(registry);
  registry.load_plugin(HABITS_PLUGIN);
  return registry;
}

}  // namespace cachebisect::habits
