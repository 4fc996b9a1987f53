// What the verdict says in words.
#include "cachebisect/bisect/advice/sentence.hpp"

#include <string>

#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using test::has;

namespace {

/// Stages 2 and 3 of four were measured together.
Waterfall with_a_span() {
  Waterfall waterfall;
  const double rates[] = {900, 1000, 0, 2000, 2100};
  for (const double rate : rates) {
    BoundaryReport& boundary = waterfall.boundaries.emplace_back();
    boundary.index = static_cast<int>(waterfall.boundaries.size()) - 1;
    if (rate > 0) boundary.samples_per_second.value = rate;
  }
  for (const char* const name : {"read", "decode", "normalise", "collate"}) {
    StageReport& stage = waterfall.stages.emplace_back();
    stage.name = name;
    stage.index = static_cast<int>(waterfall.stages.size());
  }
  waterfall.spans = {{.name = "stages 2-3 together",
                      .first = 2,
                      .last = 3,
                      .drop = {0.5, Interval{0.48, 0.52}},
                      .certified = true}};
  waterfall.stages[1].span = waterfall.stages[2].span = waterfall.spans[0].name;
  waterfall.loss = {0.57, Interval{0.55, 0.59}};
  return waterfall;
}

Verdict drop_of_span(const std::string& stage, int index) {
  Verdict verdict;
  verdict.kind = VerdictKind::drop;
  verdict.stage = stage;
  verdict.stage_index = index;
  verdict.span = "stages 2-3 together";
  verdict.drop = {0.5, Interval{0.48, 0.52}};
  verdict.rounds = 12;
  return verdict;
}

}  // namespace

TEST_CASE("the drop of a span is not said to be that of a stage in it") {
  const std::string text = verdict_sentence({}, with_a_span(), {}, drop_of_span("normalise", 3));
  CHECK(has(text,
            "normalise takes most of the time of stages 2-3 together, which cost 50% (48 to "
            "52% at 99%) of throughput: 2,000 samples/s with them cached, 1,000 with them "
            "live."));
}

TEST_CASE("a span of which no stage takes most is named as it is") {
  const std::string text =
      verdict_sentence({}, with_a_span(), {}, drop_of_span("stages 2-3 together", 2));
  CHECK(has(text, "stages 2-3 together cost 50% (48 to 52% at 99%) of throughput: 2,000"));
}

TEST_CASE("rare stalls of a span are said of the span") {
  Waterfall waterfall = with_a_span();
  const Verdict verdict = drop_of_span("stages 2-3 together", 2);
  CHECK_FALSE(has(verdict_sentence({}, waterfall, {}, verdict), "rare stalls"));
  waterfall.spans[0].bursty = true;
  CHECK(has(verdict_sentence({}, waterfall, {}, verdict), "rare stalls"));
}

TEST_CASE("where it is open which of two stages costs more, both are named with their figures") {
  Waterfall waterfall = with_a_span();
  waterfall.stages[0].drop = {0.1, Interval{0.09, 0.11}};
  Verdict verdict;
  verdict.rounds = 30;
  verdict.tied_with = {"stages 2-3 together", "read"};
  CHECK(has(verdict_sentence({}, waterfall, {}, verdict),
            "stages 2-3 together cost 50% by the mean, in stalls, and read costs 10%: which costs "
            "more is open."));
}
