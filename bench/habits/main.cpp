// Runs chains whose stages have the habits of real ones, and prints how often the verdict is right.
#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>

#include "bench/habits/real_chains.hpp"
#include "bench/habits/real_what_ifs.hpp"
#include "bench/habits/run.hpp"
#include "bench/habits/table.hpp"
#include "bench/support/program.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/selftest/summary.hpp"

namespace {

using namespace cachebisect;
using namespace cachebisect::habits;

struct Arguments {
  RunSettings settings;
  bench::CorpusOutput output;
  std::vector<std::string> names;
  std::string seeds = "1..20";
  bool real_chains = false;
  bool list = false;
  bool check_plans = false;
  bool what_ifs = false;
};

/// "7" or "1..20".
void parse_seeds(const std::string& text, RunSettings& settings) {
  const std::size_t dots = text.find("..");
  const std::string first = text.substr(0, dots);
  const std::string last = dots == std::string::npos ? first : text.substr(dots + 2);
  const auto is_number = [](const std::string& word) {
    return !word.empty() && word.size() <= 9 &&
           std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
  };
  if (is_number(first) && is_number(last)) {
    settings.first_seed = std::stoull(first);
    settings.last_seed = std::stoull(last);
    if (settings.first_seed >= 1 && settings.first_seed <= settings.last_seed) return;
  }
  throw Error(ErrorKind::usage, "--seeds " + text + ": expected A or A..B, from 1");
}

void print_list(const std::vector<Habit>& habits) {
  for (const Habit& habit : habits) {
    std::cout << habit.name << std::string(24 - std::min<std::size_t>(habit.name.size(), 23), ' ')
              << habit.doc << '\n';
  }
}

void print_pipelines(const RunSettings& settings) {
  const Registry registry = habit_registry();
  for (const Habit& habit : settings.habits) {
    for (std::uint64_t seed = settings.first_seed; seed <= settings.last_seed; ++seed) {
      const Tuning tuning =
          habit.tune == nullptr ? Tuning{} : habit.tune(habit.name, seed, registry);
      std::cout << pipeline_json(habit.draw(habit.name, seed, {.folder = ".", .tuning = tuning}));
    }
  }
}

void print_plan_checks(const RunSettings& settings) {
  std::cout << "habit                    seed  loss: planned  measured\n";
  check_plans(settings, [](const PlanCheck& check) {
    std::array<char, 160> text{};
    std::snprintf(text.data(), text.size(), "%-22s %6llu        %6.2f%%   %6.2f%%\n",
                  check.habit.c_str(), static_cast<unsigned long long>(check.seed),
                  100 * check.planned_loss, 100 * check.measured_loss);
    std::cout << text.data() << std::flush;
  });
}

void print_what_ifs(const RunSettings& settings) {
  std::cout << what_if_header();
  std::vector<WhatIfCheck> checks;
  check_what_ifs(settings, [&](const WhatIfCheck& check) {
    checks.push_back(check);
    std::cout << row(check) << std::flush;
  });
  std::cout << '\n' << summary(checks);
}

void run_corpus(const Arguments& arguments) {
  std::cout << row_header();
  const std::vector<HabitScore> scores =
      run_habits(arguments.settings, [&](const HabitScore& score) {
        const bool right = score.score.outcome == selftest::Outcome::right;
        if (!arguments.output.only_bad || !right) std::cout << row(score) << std::flush;
      });
  std::vector<selftest::Score> plain;
  for (const HabitScore& score : scores) plain.push_back(score.score);
  std::cout << '\n' << selftest::summary(plain);
}

int run(Arguments& arguments) {
  if (!arguments.output.table.empty()) {
    bench::print_tables(arguments.output, load_habits);
    return 0;
  }
  const std::vector<Habit>& known =
      arguments.real_chains || arguments.what_ifs ? real_chains() : all_habits();
  RunSettings& settings = arguments.settings;
  settings.habits = known;
  if (!arguments.names.empty()) {
    settings.habits.clear();
    for (const std::string& name : arguments.names) {
      settings.habits.push_back(habit_named(name, known));
    }
  } else if (settings.simulated) {
    std::erase_if(settings.habits, [](const Habit& habit) { return !habit.simulates; });
  }
  parse_seeds(arguments.seeds, settings);
  if (arguments.list) {
    print_list(settings.habits);
  } else if (arguments.output.print_pipelines) {
    print_pipelines(settings);
  } else if (arguments.what_ifs) {
    print_what_ifs(settings);
  } else if (arguments.check_plans) {
    print_plan_checks(settings);
  } else {
    run_corpus(arguments);
  }
  return 0;
}

void add_options(CLI::App& app, Arguments& arguments) {
  RunSettings& settings = arguments.settings;
  app.add_option("--habit", arguments.names, "Only this one (repeatable)")->take_all();
  app.add_option("--seeds", arguments.seeds, "Seeds A..B of each habit (1..20)");
  bench::add_corpus_options(app, arguments.output, settings.budget_seconds, settings.resume);
  app.add_option("--truth-seconds", settings.truth_seconds,
                 "Seconds of each long run, if the truth is measured (20)")
      ->check(CLI::PositiveNumber);
  app.add_option("--reports", settings.reports, "Write the report of each chain into this folder")
      ->check(CLI::ExistingDirectory);
  app.add_flag("--simulated", settings.simulated,
               "In virtual time, with 1% of white noise: only habits that are costs alone");
  app.add_flag("--real-chains", arguments.real_chains,
               "Files with real decoding and augmentation, and a known wait, instead of habits");
  app.add_flag("--what-ifs", arguments.what_ifs,
               "Real chains: predict and verify changes, and compare with fresh runs of "
               "--truth-seconds each");
  app.add_flag("--list", arguments.list, "Only print the names, with a line about each");
  app.add_flag("--check-plans", arguments.check_plans,
               "Only measure the chains whose truth is planned, and print both");
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"Chains whose stages have the habits of real ones: how often is the verdict right?"};
  add_options(app, arguments);
  return bench::run_program("habits", app, argc, argv, [&] { return run(arguments); });
}
