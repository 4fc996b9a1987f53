// A score as a line of JSON, so that long runs can be resumed and tabulated later.
#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/selftest/score.hpp"

namespace cachebisect::selftest {
namespace {

using Json = nlohmann::ordered_json;

/// The keys of a line, for writing and reading alike. Calls `visit(key, member)`.
template <class AnyScore, class Visit>
void visit_fields(AnyScore& s, const Visit& visit) {
  visit("seed", s.seed);
  visit("stages", s.stages);
  visit("workers", s.workers);
  visit("shape", s.shape);
  visit("planted", s.planted);
  visit("jitter", s.jitter);
  visit("step_seconds", s.step_seconds);
  visit("largest_drop", s.largest_drop);
  visit("loss", s.loss);
  visit("expected", s.expected);
  visit("expected_category", s.expected_category);
  visit("verdict", s.verdict);
  visit("named_category", s.named_category);
  visit("outcome", s.outcome);
  visit("false_alarm", s.false_alarm);
  visit("wrong_stage", s.wrong_stage);
  visit("intervals", s.intervals);
  visit("covered", s.covered);
  visit("rounds", s.rounds);
  visit("blocks", s.blocks);
  visit("block_cv", s.block_cv);
  visit("seconds", s.seconds);
  visit("certified", s.certified);
}

struct Writer {
  Json& json;

  template <class T>
  void operator()(const char* key, const T& value) const {
    json[key] = value;
  }
  void operator()(const char* key, Pattern value) const { json[key] = to_string(value); }
  void operator()(const char* key, Outcome value) const { json[key] = to_string(value); }
  void operator()(const char* key, const std::string& value) const {
    json[key] = value.empty() ? Json(nullptr) : Json(value);
  }
  void operator()(const char* key, const std::optional<double>& value) const {
    json[key] = value ? Json(*value) : Json(nullptr);
  }
};

struct Reader {
  const Json& json;

  template <class T>
  void operator()(const char* key, T& value) const {
    json.at(key).get_to(value);
  }
  void operator()(const char* key, Pattern& value) const {
    value = pattern_of(json.at(key).get<std::string>());
  }
  void operator()(const char* key, Outcome& value) const {
    value = outcome_of(json.at(key).get<std::string>());
  }
  void operator()(const char* key, std::string& value) const {
    if (!json.at(key).is_null()) json.at(key).get_to(value);
  }
  void operator()(const char* key, std::optional<double>& value) const {
    if (!json.at(key).is_null()) value = json.at(key).get<double>();
  }
};

}  // namespace

std::string to_line(const Score& score) {
  Json json;
  visit_fields(score, Writer{json});
  return json.dump();
}

Score score_of(const std::string& line) {
  Score score;
  try {
    const Json json = Json::parse(line);
    visit_fields(score, Reader{json});
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::usage, std::string("not a score: ") + error.what());
  }
  return score;
}

}  // namespace cachebisect::selftest
