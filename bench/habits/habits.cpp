#include "bench/habits/habits.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"

namespace cachebisect::habits {

const std::vector<Habit>& all_habits() {
  static const std::vector<Habit> habits = [] {
    std::vector<Habit> all = varying_habits();
    for (auto* const part : {&remembering_habits, &sharing_habits, &device_habits}) {
      for (Habit& habit : part()) all.push_back(std::move(habit));
    }
    return all;
  }();
  return habits;
}

const Habit& habit_named(const std::string& name, const std::vector<Habit>& habits) {
  std::vector<std::string> known;
  for (const Habit& habit : habits) {
    if (habit.name == name) return habit;
    known.push_back(habit.name);
  }
  throw Error(ErrorKind::usage, "unknown habit " + quote(name) + "; " + suggestion(name, known));
}

}  // namespace cachebisect::habits
