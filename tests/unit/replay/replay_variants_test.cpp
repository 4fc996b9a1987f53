// Live arms with overrides: another pipeline over the same data, run by the same replayer.
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "support/all_stages.hpp"
#include "support/recording_step.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/replay/job/rebuild.hpp"

using namespace cachebisect;
using test::has;

namespace {

const char* const kPipeline = R"({
  "name": "small", "batch_size": 8, "workers": 1, "device": "cpu",
  "stages": [
    {"use": "synthetic.read", "bytes": 16, "samples": 4096},
    {"use": "synthetic.payload", "bytes": 32},
    {"use": "collate.stack"}, {"use": "copy.device"}],
  "emulate": {"step_ms": 1}
})";

Arm live(const Overrides& overrides) { return {ArmKind::live, 0, 0, overrides}; }

struct VariantJob {
  VariantJob()
      : registry(test::all_stages()),
        pipeline(Pipeline::from_json(kPipeline, registry)),
        device(make_cpu_device()),
        step(std::make_shared<test::RecordingStep>()),
        replayer(pipeline, device, step,
                 {.workers = 1, .rebuild = make_rebuild(pipeline, device, 1, registry)}) {}

  std::vector<test::SeenBatch> run(const Overrides& overrides) {
    step->seen.clear();
    replayer.run({live(overrides), 4, 1, 0}, {});
    return std::exchange(step->seen, {});
  }

  Registry registry;
  Pipeline pipeline;
  std::shared_ptr<Device> device;
  std::shared_ptr<test::RecordingStep> step;
  PipelineReplayer replayer;
};

Error refusal(VariantJob& job, const Overrides& overrides) {
  try {
    job.run(overrides);
  } catch (const Error& error) {
    return error;
  }
  return {ErrorKind::internal, "no error"};
}

}  // namespace

TEST_CASE("an override changes what runs, and the present pipeline stays unchanged") {
  VariantJob job;
  CHECK(job.run({{"batch_size", "4"}}).at(0).indices.size() == 4);
  CHECK(job.run({}).at(0).indices.size() == 8);
  CHECK(job.run({{"stages.payload.bytes", "64"}}).at(0).names.at(0) == "image uint8[8, 64]");
  CHECK(job.run({{"stages.1.bytes", "48"}}).at(0).names.at(0) == "image uint8[8, 48]");
  CHECK(job.run({}).at(0).names.at(0) == "image uint8[8, 32]");
  CHECK(job.run({{"batch_size", "4"}, {"workers", "0"}}).at(0).indices.size() == 4);
  CHECK(job.replayer.describe().batch_size == 8);
}

TEST_CASE("a pipeline with overrides runs before the caches are filled and between replays") {
  VariantJob job;
  CHECK(job.replayer.supports(live({{"workers", "2"}})));
  job.run({{"workers", "2"}});
  job.replayer.prepare({}, {});
  for (int round = 0; round < 3; ++round) {
    job.replayer.begin_round();
    CHECK(job.run({{"workers", "2"}}).size() == 5);
    CHECK(job.replayer.run({{ArmKind::replay, 2}, 4, 1, 0}, {}).samples == 32);
  }
}

TEST_CASE("blocks with overrides take the next samples too, none twice in an epoch") {
  VariantJob job;
  std::set<std::uint64_t> taken;
  std::size_t all = 0;
  for (int block = 0; block < 6; ++block) {
    for (const Overrides& overrides :
         {Overrides{}, Overrides{{"batch_size", "4"}}, Overrides{{"batch_size", "12"}}}) {
      for (const test::SeenBatch& batch : job.run(overrides)) {
        all += batch.indices.size();
        taken.insert(batch.indices.begin(), batch.indices.end());
      }
    }
  }
  CHECK(taken.size() == all);
}

TEST_CASE("an invalid override is refused with its path, and the next block runs") {
  VariantJob job;
  const Error unknown = refusal(job, {{"batchsize", "4"}});
  CHECK(unknown.kind() == ErrorKind::usage);
  CHECK(has(unknown.what(), "batchsize=4"));
  CHECK(has(unknown.what(), "batch_size"));
  const Error range = refusal(job, {{"stages.payload.bytes", "-1"}});
  CHECK(range.kind() == ErrorKind::usage);
  CHECK(has(range.what(), "stages.payload.bytes=-1"));
  CHECK(refusal(job, {{"stages.nothing.us", "1"}}).kind() == ErrorKind::usage);
  job.run({{"batch_size", "4"}});
  CHECK(job.run({{"batch_size", "4"}}).size() == 5);
}

TEST_CASE("without rebuild, overrides are not supported") {
  VariantJob job;
  PipelineReplayer replayer(job.pipeline, job.device, job.step, {.workers = 1});
  CHECK_FALSE(replayer.supports(live({{"workers", "2"}})));
  CHECK(replayer.supports(live({})));
}

TEST_CASE("device and step are made anew only if the overrides affect them") {
  const Registry& registry = test::all_stages();
  const Pipeline pipeline = Pipeline::from_json(kPipeline, registry);
  const std::shared_ptr<Device> device = make_emulated_device({});
  const auto rebuild = make_rebuild(pipeline, device, 1, registry);
  const PipelineVariant same = rebuild({{"batch_size", "4"}});
  CHECK(same.device == nullptr);
  CHECK(same.step == nullptr);
  const PipelineVariant emulated = rebuild({{"device", "emulated"}, {"emulate.step_ms", "2"}});
  REQUIRE(emulated.device != nullptr);
  CHECK(emulated.device->kind() == DeviceKind::emulated);
  REQUIRE(emulated.step != nullptr);
  CHECK(emulated.step->name() == "emulated");
}
