// When a crop is proposed to run earlier, and what that is predicted to gain.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "support/measured.hpp"
#include "support/starved_chain.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/bisect/advice/remedies.hpp"
#include "cachebisect/bisect/costs/order_changes.hpp"
#include "cachebisect/bisect/costs/what_if.hpp"
#include "cachebisect/report/words/json_patch.hpp"
#include "cachebisect/tune/candidates.hpp"

using namespace cachebisect;
using test::has;
using test::rate_of;

namespace {

constexpr double kWholeBytes = 64 * 64 * 3;

/// One worker; a jitter of so many seconds per sample, then a crop to this side.
SimulatedChain jittered(double seconds) {
  SimulatedChain chain = test::starved_chain();
  chain.workers = 1;
  chain.stages[2] = {.name = "jitter", .category = Category::augment, .seconds = seconds};
  chain.stages[3] = {.name = "cut", .category = Category::augment, .seconds = 10e-6};
  return chain;
}

std::string image_of_side(std::int64_t side) {
  const std::string text = std::to_string(side);
  return "image uint8 [" + text + ", " + text + ", 3]";
}

/// The chain, measured, as that of a pipeline file.
Measurements jitter_run(double seconds, std::int64_t side, const std::string& jitter) {
  Measurements run = test::measure_chain(jittered(seconds), {.budget_seconds = 30});
  ChainDescription& chain = run.chain;
  const double pixels = static_cast<double>(side * side);
  chain.stages[2].type = "augment.color_jitter";
  chain.stages[3].type = "augment.random_crop";
  for (std::size_t s = 0; s < 4; ++s) {
    chain.stages[s].output = image_of_side(s < 3 ? 64 : side);
    chain.stages[s].output_bytes = s < 3 ? kWholeBytes : 3 * pixels;
  }
  chain.effective_json = R"({"stages": [{"use": "read.mnist"}, {"use": "decode.mnist"},
    {"use": "augment.color_jitter", )" +
                         jitter + R"(},
    {"use": "augment.random_crop", "size": )" +
                         std::to_string(side) + "}";
  for (std::size_t s = 4; s < chain.stages.size(); ++s)
    chain.effective_json += R"(, {"use": "x.y"})";
  chain.effective_json += "]}";
  return run;
}

std::optional<Remedy> order_of(const Report& report) {
  const auto found = std::ranges::find(report.remedies, "order", &Remedy::id);
  return found == report.remedies.end() ? std::nullopt : std::optional(*found);
}

const std::string kHueOnly = R"("hue": 0.1)";

}  // namespace

TEST_CASE("a crop that may run before the stage that costs is proposed, with what it gains") {
  const Report report = test::report_of(jitter_run(1e-3, 32, kHueOnly));
  const auto order = order_of(report);
  REQUIRE(order);
  CHECK(order->text == "run cut before jitter");
  CHECK(has(order->reason, "the same bits"));
  CHECK(has(order->reason, "25% of the pixels"));
  CHECK(json_patch(order->edits) ==
        R"([{"op":"remove","path":"/stages/3"},{"op":"add","path":"/stages/2",)"
        R"("value":{"use":"augment.random_crop","size":32,"name":"cut"}}])");
  REQUIRE(order->predicted.value);
  REQUIRE(order->predicted.interval);
  // The jitter costs a quarter; half of what is spared is within the interval.
  const double now = rate_of(jittered(1e-3));
  CHECK(*order->predicted.value == doctest::Approx(rate_of(jittered(0.25e-3)) - now).epsilon(0.05));
  CHECK(order->predicted.interval->low < rate_of(jittered(0.625e-3)) - now);
  CHECK(order->predicted.interval->low > 0);
  // `tune` tries it.
  const auto trials = tune::candidates(report, false);
  CHECK(std::ranges::any_of(trials, [](const tune::Trial& trial) { return trial.id == "order"; }));
}

TEST_CASE("a crop as large as the image is no remedy, nor is one that changes outputs unsaid") {
  CHECK_FALSE(order_of(test::report_of(jitter_run(1e-3, 64, kHueOnly))));
  const auto other = order_of(test::report_of(jitter_run(1e-3, 32, R"("contrast": 0.1)")));
  if (other) {
    CHECK(other->edits.empty());
    CHECK(has(other->text, "if it may change samples"));
    CHECK(has(other->reason, "the mean of the whole image"));
    CHECK_FALSE(other->predicted.value);
  }
}

TEST_CASE("where images vary in size, the bytes that were cached say what the crop leaves") {
  Measurements run = jitter_run(1e-3, 32, kHueOnly);
  for (std::size_t s = 0; s < run.chain.stages.size(); ++s) {
    StageDescription& stage = run.chain.stages[s];
    if (s < 3) stage.output = "image uint8 [?, ?, 3]";
    run.cache.item_bytes.resize(run.chain.stages.size() + 1);
    run.cache.item_bytes[s + 1] = stage.output_bytes.value_or(0);
    stage.output_bytes.reset();
  }
  const auto order = order_of(test::report_of(run));
  REQUIRE(order);
  CHECK(has(order->reason, "25% of the pixels"));
  CHECK(order->predicted.value);
}

TEST_CASE("where the stage costs next to nothing, what it gains is not worth a trial") {
  const Measurements run = jitter_run(1e-6, 32, kHueOnly);
  const Analysis analysis = analyse(run);
  Advice advice(run, analysis.waterfall);
  offer_order(advice, analysis.waterfall.stages[2]);
  REQUIRE(advice.proposals().size() == 1);
  const Proposal& proposal = advice.proposals()[0];
  Report report = test::report_of(run);
  report.remedies = {proposal.remedy};
  const Estimate rate = analysis.forecast->between(*proposal.changes, *proposal.other);
  report.remedies[0].predicted = shifted(rate, -*report.live.value);
  CHECK(std::ranges::none_of(tune::candidates(report, false),
                             [](const tune::Trial& trial) { return trial.id == "order"; }));
}

namespace {

/// The same in code, where the adapter says which crop may run before which stage.
Measurements jitter_in_code(const std::string& word) {
  Measurements run = jitter_run(1e-3, 32, kHueOnly);
  run.chain.effective_json.clear();
  run.chain.stages[2].name = "transforms[0] ColorJitter";
  run.chain.stages[3].name = "transforms[1] RandomCrop";
  run.chain.settings.of_file = false;
  run.chain.settings.all = {{.path = "order",
                             .name = "order",
                             .code = "Compose([...])  # {}",
                             .values = SettingValues::word,
                             .words = {word}}};
  return run;
}

const std::string kOrderWord = "transforms[1] before transforms[0]";

}  // namespace

TEST_CASE("in code the crop is a setting that a live arm can run") {
  const Measurements run = jitter_in_code(kOrderWord);
  const Analysis analysis = analyse(run);
  Advice advice(run, analysis.waterfall);
  offer_order(advice, analysis.waterfall.stages[2]);
  REQUIRE(advice.proposals().size() == 1);
  const Remedy& remedy = advice.proposals()[0].remedy;
  CHECK(remedy.text == "run transforms[1] RandomCrop before transforms[0] ColorJitter");
  const auto arm = arm_of(remedy, run.chain.settings);
  REQUIRE(arm);
  CHECK(arm->overrides.at("order") == '"' + kOrderWord + '"');
  offer_order(advice, analysis.waterfall.stages[3]);
  CHECK(advice.proposals().size() == 1);  // The crop itself gains nothing.
}

TEST_CASE("in code draws change where two of the stages draw") {
  const auto reason = [](bool crop_draws) {
    Measurements run = jitter_in_code(kOrderWord);
    run.chain.stages[2].random = true;
    run.chain.stages[3].random = crop_draws;
    const Analysis analysis = analyse(run);
    Advice advice(run, analysis.waterfall);
    offer_order(advice, analysis.waterfall.stages[2]);
    return advice.proposals().at(0).remedy.reason;
  };
  CHECK(has(reason(false), "samples stay the same"));
  CHECK(has(reason(true), "with other draws"));
}

TEST_CASE("in code a what-if names the crop alone, and is predicted and run") {
  const Measurements run = jitter_in_code(kOrderWord);
  const WhatIf what_if = parse_what_if("transforms[1]=earlier", run.chain);
  const WhatIfResult answer = predict_what_if(what_if, run.chain, Forecast::of(run));
  CHECK(answer.line == "Compose([...])  # \"" + kOrderWord + '"');
  REQUIRE(answer.predicted.value);
  CHECK(*answer.predicted.value == doctest::Approx(rate_of(jittered(0.25e-3))).epsilon(0.05));
  const WhatIfArm arm = arm_of(what_if, run.chain);
  REQUIRE(arm.arm);
  CHECK(arm.arm->overrides.at("order") == '"' + kOrderWord + '"');
  CHECK_THROWS_WITH_AS((void)parse_what_if("transforms[0]=earlier", run.chain),
                       doctest::Contains("only a crop can run earlier"), Error);
  ChainDescription none = run.chain;
  none.settings.all.clear();
  CHECK_THROWS_WITH_AS((void)parse_what_if("transforms[1]=earlier", none),
                       doctest::Contains("no crop behind stages"), Error);
}

TEST_CASE("a move that names no stages of the chain, or a later one, is none") {
  const Measurements run = jitter_in_code(kOrderWord);
  CHECK(stage_move(run.chain, kOrderWord).has_value());
  for (const char* text : {"", "transforms[1]", "transforms[0] before transforms[1]",
                           "transforms[1] before transforms[7]"}) {
    CHECK_FALSE(stage_move(run.chain, text).has_value());
  }
}
