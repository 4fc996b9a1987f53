// A score as a line of JSON, so that long runs can be resumed and tables made of them later.
#include <nlohmann/json.hpp>

#include "cachebisect/api/selftest/score.hpp"
#include "cachebisect/base/error.hpp"

namespace cachebisect::selftest {

using Json = nlohmann::ordered_json;

std::string to_line(const Score& s) {
  const Json json{{"seed", s.seed},
                  {"stages", s.stages},
                  {"workers", s.workers},
                  {"shape", to_string(s.shape)},
                  {"planted", s.planted.empty() ? Json(nullptr) : Json(s.planted)},
                  {"jitter", s.jitter},
                  {"step_seconds", s.step_seconds},
                  {"largest_drop", s.largest_drop},
                  {"loss", s.loss},
                  {"expected", s.expected},
                  {"expected_category", s.expected_category},
                  {"verdict", s.verdict},
                  {"named_category", s.named_category},
                  {"outcome", to_string(s.outcome)},
                  {"false_alarm", s.false_alarm},
                  {"wrong_stage", s.wrong_stage},
                  {"intervals", s.intervals},
                  {"covered", s.covered},
                  {"rounds", s.rounds},
                  {"blocks", s.blocks},
                  {"block_cv", s.block_cv ? Json(*s.block_cv) : Json(nullptr)},
                  {"seconds", s.seconds},
                  {"certified", s.certified}};
  return json.dump();
}

Score score_of(const std::string& line) {
  Score s;
  try {
    const Json json = Json::parse(line);
    json.at("seed").get_to(s.seed);
    json.at("stages").get_to(s.stages);
    json.at("workers").get_to(s.workers);
    s.shape = pattern_of(json.at("shape").get<std::string>());
    if (!json.at("planted").is_null()) json.at("planted").get_to(s.planted);
    json.at("jitter").get_to(s.jitter);
    json.at("step_seconds").get_to(s.step_seconds);
    json.at("largest_drop").get_to(s.largest_drop);
    json.at("loss").get_to(s.loss);
    json.at("expected").get_to(s.expected);
    json.at("expected_category").get_to(s.expected_category);
    json.at("verdict").get_to(s.verdict);
    json.at("named_category").get_to(s.named_category);
    s.outcome = outcome_of(json.at("outcome").get<std::string>());
    json.at("false_alarm").get_to(s.false_alarm);
    json.at("wrong_stage").get_to(s.wrong_stage);
    json.at("intervals").get_to(s.intervals);
    json.at("covered").get_to(s.covered);
    json.at("rounds").get_to(s.rounds);
    json.at("blocks").get_to(s.blocks);
    if (!json.at("block_cv").is_null()) s.block_cv = json.at("block_cv").get<double>();
    json.at("seconds").get_to(s.seconds);
    json.at("certified").get_to(s.certified);
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::usage, std::string("not a line of scores: ") + error.what());
  }
  return s;
}

}  // namespace cachebisect::selftest
