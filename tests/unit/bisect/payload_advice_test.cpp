// Fewer bytes for the copy: images in 16 bits, labels as numbers. When that is proposed, and what
// it is predicted to gain.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "support/all_stages.hpp"
#include "support/measured.hpp"
#include "support/starved_chain.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/bisect/advice/remedies.hpp"
#include "cachebisect/bisect/analysis/waterfall.hpp"
#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/report/words/json_patch.hpp"
#include "cachebisect/tune/candidates.hpp"

using namespace cachebisect;
using test::has;
using test::rate_of;

namespace {

constexpr double kFloatImageBytes = 4 * 3 * 32 * 32;
constexpr double kOneHotBytes = 4 * 3072;

/// A copy of so many bytes that takes 123 us per sample, behind workers that take 30 us.
SimulatedChain copying(double bytes) {
  SimulatedChain chain = test::starved_chain(10e-6);
  chain.workers = 2;
  chain.copy_bytes_per_second = 1e8;
  chain.source_bytes = bytes;
  chain.step_seconds = 10e-6;
  return chain;
}

std::string file_of(const std::string& precision) {
  return R"({"stages": [
    {"use": "read.cifar10", "path": "/nowhere"}, {"use": "decode.cifar"},
    {"use": "augment.one_hot", "classes": 3072, "fields": ["label"]},
    {"use": "augment.normalize", "mean": [0.5, 0.5, 0.5], "std": [0.2, 0.2, 0.2]},
    {"use": "collate.stack", "layout": "NCHW"}, {"use": "copy.device"}],
    "train": {"model": "lenet", "precision": ")" +
         precision + R"("}, "device": "emulated"})";
}

Measurements payload_run(const SimulatedChain& planted, const std::string& precision) {
  Measurements run = test::measure_chain(planted, {.budget_seconds = 30});
  ChainDescription& chain = run.chain;
  chain.settings.of_file = true;
  chain.effective_json =
      to_json(parse_pipeline(file_of(precision), "test", test::all_stages(), {}));
  chain.stages[2].type = "augment.one_hot";
  chain.stages[3].type = "augment.normalize";
  for (std::size_t s = 0; s < 4; ++s) {
    chain.stages[s].output_bytes = s < 2 ? kFloatImageBytes : kFloatImageBytes + kOneHotBytes;
    chain.stages[s].output = "label int64 [], image float32 [3, 32, 32]";
  }
  return run;
}

struct PayloadAdvised {
  explicit PayloadAdvised(Measurements run)
      : measured(std::move(run)),
        analysis(analyse(measured)),
        advice(measured, analysis.waterfall) {}

  /// As the remedy of a report.
  std::optional<Remedy> proposed() {
    if (advice.proposals().empty()) return std::nullopt;
    const Proposal& proposal = advice.proposals().front();
    Remedy remedy = proposal.remedy;
    remedy.predicted =
        shifted(analysis.forecast->after(*proposal.changes), -*analysis.waterfall.live.value);
    return remedy;
  }
  const StageReport& stage(std::size_t index) { return analysis.waterfall.stages.at(index); }

  Measurements measured;
  Analysis analysis;
  Advice advice;
};

std::optional<Remedy> halved(Measurements run) {
  PayloadAdvised advised(std::move(run));
  offer_half(advised.advice, advised.stage(5));
  return advised.proposed();
}

std::size_t is_tried(const Measurements& run, const Remedy& remedy, bool allow_semantic) {
  Report report = test::report_of(run);
  report.what_ifs.clear();
  report.remedies = {remedy};
  return tune::candidates(report, allow_semantic).size();
}

}  // namespace

TEST_CASE("where the copy limits a step in 16 bits, half of the bytes gain what half of it costs") {
  const SimulatedChain chain = copying(kFloatImageBytes);
  const Measurements run = payload_run(chain, "bf16-mixed");
  const auto remedy = halved(run);
  REQUIRE(remedy);
  CHECK(remedy->text == "cast images to bfloat16 before the copy");
  CHECK(*remedy->predicted.value ==
        doctest::Approx(rate_of(copying(kFloatImageBytes / 2)) - rate_of(chain)).epsilon(0.03));
  CHECK(remedy->predicted.interval->low > 0);
  CHECK(is_tried(run, *remedy, true) == 1);
  CHECK(is_tried(run, *remedy, false) == 0);  // It changes training.
}

TEST_CASE("the cast is inserted behind the last stage of samples, and the file parses") {
  const auto remedy = halved(payload_run(copying(kFloatImageBytes), "fp16-mixed"));
  REQUIRE(remedy);
  const PipelineSpec spec = parse_pipeline(file_of("fp16-mixed"), "test", test::all_stages(), {});
  const PipelineSpec changed = patch_pipeline(spec, test::all_stages(), json_patch(remedy->edits));
  REQUIRE(changed.stages.size() == 7);
  CHECK(changed.stages[4].use == "augment.cast");
  CHECK(changed.stages[4].params.string("dtype") == "float16");
  CHECK(changed.stages[5].use == "collate.stack");
}

TEST_CASE("where workers limit, half of the bytes gain nothing, and are not tried") {
  SimulatedChain chain = copying(kFloatImageBytes);
  chain.stages[1].seconds = 1e-3;
  const Measurements run = payload_run(chain, "bf16-mixed");
  const auto remedy = halved(run);
  REQUIRE(remedy);
  CHECK(*remedy->predicted.value < 0.01 * rate_of(chain));
  CHECK(is_tried(run, *remedy, true) == 0);
}

TEST_CASE("no cast is proposed where the step does not take it, or where there are no floats") {
  CHECK_FALSE(halved(payload_run(copying(kFloatImageBytes), "fp32")));
  Measurements bytes = payload_run(copying(kFloatImageBytes), "bf16-mixed");
  for (StageDescription& stage : bytes.chain.stages) {
    stage.output = "label float32 [10], image uint8 [3, 32, 32]";
  }
  CHECK_FALSE(halved(bytes));
  Measurements on_device = payload_run(copying(kFloatImageBytes), "bf16-mixed");
  on_device.chain.stages.back().kind = StageKind::device;
  CHECK_FALSE(halved(on_device));
  Measurements in_code = payload_run(copying(kFloatImageBytes), "bf16-mixed");
  in_code.chain.settings.of_file = false;
  CHECK_FALSE(halved(in_code));
}

TEST_CASE("labels are copied as numbers where one-hot vectors are many bytes of the copy") {
  const auto moved = [](const SimulatedChain& chain) {
    PayloadAdvised advised(payload_run(chain, "fp32"));
    offer_device(advised.advice, advised.stage(2));
    return advised.proposed();
  };
  const SimulatedChain chain = copying(kFloatImageBytes + kOneHotBytes);
  const auto remedy = moved(chain);
  REQUIRE(remedy);
  CHECK(has(remedy->text, "device.one_hot after the copy"));
  SimulatedChain changed = copying(kFloatImageBytes);
  changed.stages[2].seconds = 0;
  CHECK(*remedy->predicted.value ==
        doctest::Approx(rate_of(changed) - rate_of(chain)).epsilon(0.03));
  REQUIRE(remedy->edits.size() == 2);
  CHECK(has(remedy->edits[1].value, R"("use":"device.one_hot")"));
  CHECK(has(remedy->edits[1].value, R"("fields":["label"])"));

  SimulatedChain starved = chain;
  starved.stages[1].seconds = 1e-3;
  CHECK(*moved(starved)->predicted.value < 0.02 * rate_of(starved));
}
