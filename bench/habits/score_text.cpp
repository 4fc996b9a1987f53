// Scores of habits as lines of JSON and as rows for people.
#include <array>
#include <cstdio>

#include "bench/habits/judge.hpp"
#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"

namespace cachebisect::habits {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

std::string to_line(const HabitScore& score) {
  Json json = Json::parse(selftest::to_line(score.score));
  json["names_cause"] = score.names_cause;
  json["warnings"] = score.warnings;
  json["sentence"] = score.sentence;
  return json.dump();
}

HabitScore habit_score_of(const std::string& line) {
  HabitScore result;
  result.score = selftest::score_of(line);
  try {
    const Json json = Json::parse(line);
    json.at("names_cause").get_to(result.names_cause);
    json.at("warnings").get_to(result.warnings);
    json.at("sentence").get_to(result.sentence);
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::usage, std::string("not a score of a habit: ") + error.what());
  }
  return result;
}

std::string row_header() {
  return "habit                    seed  W  costs  loss  expected      verdict       outcome"
         "        cover  seconds\n";
}

std::string row(const HabitScore& score) {
  const selftest::Score& s = score.score;
  const bool wrong = s.outcome == selftest::Outcome::wrong;
  std::array<char, 240> text{};
  std::snprintf(text.data(), text.size(),
                "%-22s %6llu %2d  %4.0f%%  %3.0f%%  %-12s  %-12s  %-13s  %2d/%-2d  %7.1f%s\n",
                s.planted.c_str(), static_cast<unsigned long long>(s.seed), s.workers,
                100 * s.largest_drop, 100 * s.loss, s.expected.c_str(), s.verdict.c_str(),
                wrong ? "WRONG" : to_string(s.outcome), s.covered, s.intervals, s.seconds,
                score.names_cause ? "  names the cause" : "");
  std::string line = text.data();
  if (s.outcome != selftest::Outcome::right) line += "    " + score.sentence + "\n";
  for (const std::string& missed : s.missed) line += "    missed " + missed + "\n";
  return line;
}

}  // namespace cachebisect::habits
