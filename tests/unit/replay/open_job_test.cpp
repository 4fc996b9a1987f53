#include "cachebisect/replay/job/open_job.hpp"

#include <memory>
#include <optional>
#include <string>

#include "support/all_stages.hpp"
#include "support/errors.hpp"
#include "support/fake_device.hpp"
#include "support/files.hpp"
#include "support/recording_step.hpp"
#include "support/test_chain.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/executor/live_order.hpp"
#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/replay/job/make_device.hpp"
#include "cachebisect/replay/job/make_train_step.hpp"
#include "cachebisect/replay/job/rebuild.hpp"

using namespace cachebisect;

namespace {

PipelineSpec spec_for(const std::string& device) {
  PipelineSpec spec;
  spec.device = device;
  return spec;
}

Arm with_workers(const std::string& count) { return {ArmKind::live, 0, 0, {{"workers", count}}}; }

}  // namespace

TEST_CASE("a device is made by name") {
  CHECK(make_device(spec_for("cpu"))->kind() == DeviceKind::cpu);
  PipelineSpec spec = spec_for("emulated");
  spec.emulate = EmulateSpec{};
  spec.emulate->copy_gb_per_s = 50;
  CHECK(make_device(spec)->info().copy_gb_per_s == 50);
  CHECK(make_device(spec_for("emulated"))->kind() == DeviceKind::emulated);
  const DeviceKind automatic = make_device(spec_for("auto"))->kind();
  CHECK(automatic == (cuda_device_count() > 0 ? DeviceKind::cuda : DeviceKind::cpu));
  for (const std::string name : {"gpu", "cuda:", "cuda:-1", "cuda:x", "cuda7", "cudax:1"}) {
    CAPTURE(name);
    CHECK(test::usage_error([&] { make_device(spec_for(name)); }) != "");
  }
  if (cuda_device_count() == 0) {
    CHECK(test::error_message([&] { make_device(spec_for("cuda")); }, ErrorKind::device) != "");
  }
}

TEST_CASE("a step is made from the spec") {
  const Pipeline pipeline = test::random_chain({});
  const auto emulated = make_emulated_device({});
  CHECK(make_train_step(pipeline, *emulated, 1, nullptr)->name() == "emulated");
  const auto cpu = make_cpu_device();
  CHECK(test::has(test::usage_error([&] { make_train_step(pipeline, *cpu, 1, nullptr); }),
                  "callback"));
}

TEST_CASE("gradient accumulation is told, so that blocks are whole steps of the optimizer") {
  const Pipeline pipeline = Pipeline::from_json(R"({
    "name": "small", "batch_size": 8, "workers": 1, "device": "cpu",
    "stages": [{"use": "synthetic.read", "bytes": 16, "samples": 64},
               {"use": "collate.stack"}, {"use": "copy.device"}],
    "train": {"model": "lenet", "accumulate": 4, "sync_every": 10}})",
                                                test::all_stages());
  const PipelineReplayer replayer(pipeline, make_cpu_device(),
                                  std::make_shared<test::RecordingStep>());
  CHECK(replayer.describe().batches_per_step == 4);
  CHECK(replayer.describe().sync_every == 10);
}

TEST_CASE("a job takes from the options what they give and makes the rest") {
  const Pipeline pipeline = test::random_chain({.workers = 2});
  const auto step = std::make_shared<test::RecordingStep>();
  const Job job = open_job(pipeline, nullptr, {.device = make_cpu_device(), .step = step});
  CHECK(job.step == step);
  CHECK(job.workers == 2);
  PipelineReplayer replayer = job.make_replayer();
  CHECK(replayer.describe().workers == 2);
  CHECK_FALSE(replayer.supports(with_workers("1")));
  (void)replayer.run({{ArmKind::live, 0, 0, {}}, 2, 1, 0}, {});
  CHECK_FALSE(step->seen.empty());
  CHECK(open_job(pipeline, nullptr, {.workers = 1, .step = step}).workers == 1);
  CHECK(open_job(pipeline, nullptr, {.workers = kAutoWorkers, .step = step}).workers >= 1);
}

TEST_CASE("a job on an emulated device has an emulated step whatever the caller gives") {
  const auto step = std::make_shared<test::RecordingStep>();
  const Job job = open_job(test::random_chain({.workers = 1}), nullptr,
                           {.device = make_emulated_device({}), .step = step});
  CHECK(job.step->name() == "emulated");
}

TEST_CASE("a step that does not run on the device is refused, also that of a plugin") {
  const auto device = std::make_shared<test::FakeDevice>(0.001);
  const std::shared_ptr<TrainStep> on_cpu = make_callback_step([](const DeviceBatch&) {});
  const auto refused = [&](const Pipeline& pipeline, const Registry* registry,
                           const JobOptions& options) {
    return test::has(test::usage_error([&] { open_job(pipeline, registry, options); }),
                     "runs on cpu, and the device is cuda:0 (fake)");
  };
  CHECK(refused(test::random_chain({.workers = 1}), nullptr, {.device = device, .step = on_cpu}));
  Registry registry = test::all_stages();
  registry.add(TrainStepType{.type = "my.step",
                             .doc = "a step of a plugin",
                             .make = [&](const Params& /*params*/) { return on_cpu; }});
  const Pipeline pipeline = Pipeline::from_json(R"({"workers": 1,
    "stages": [{"use": "synthetic.read", "bytes": 16, "samples": 64},
               {"use": "collate.stack"}, {"use": "copy.device"}],
    "train": {"use": "my.step"}})",
                                                registry);
  CHECK(refused(pipeline, &registry, {.device = device}));
  CHECK(open_job(pipeline, &registry, {.device = make_cpu_device()}).step == on_cpu);
}

TEST_CASE("one listing of the files is shared by all variants of a job") {
  const Registry& registry = test::all_stages();
  const test::TemporaryFolder folder;
  for (const char* const name : {"cat/1.jpg", "cat/2.jpg", "dog/3.jpg", "dog/4.jpg"}) {
    folder.write(name, std::string("x"));
  }
  PipelineSpec spec = parse_pipeline(R"({
    "batch_size": 2, "workers": 1, "device": "emulated",
    "stages": [{"use": "read.image_folder", "path": ")" +
                                         folder.path() + R"("},
               {"use": "collate.pad"}, {"use": "copy.device"}],
    "train": {"kind": "emulated"}})",
                                     "test", registry, {".", "/cache"});
  const Job job = open_job(spec, registry);
  const auto rebuild = make_rebuild(job.pipeline, job.device, 1, registry);
  CHECK(job.pipeline.samples() == 4);
  std::filesystem::remove(folder.path("dog/4.jpg"));
  CHECK(rebuild({{"batch_size", "1"}}).pipeline.samples() == 4);
  CHECK(rebuild({{"stages.read.extensions", R"([".jpg", ".png"])"}}).pipeline.samples() == 3);
  CHECK(open_job(spec, registry).pipeline.samples() == 3);  // no other job shares it
}

TEST_CASE("a stop ends the opening of a job") {
  std::stop_source stop;
  stop.request_stop();
  const test::TemporaryFolder folder;
  const PipelineSpec spec = parse_pipeline(R"({"device": "emulated",
    "stages": [{"use": "read.cifar10", "path": ")" +
                                               folder.path("set") + R"(",
                "if_missing": "generate", "generated_samples": 1000},
               {"use": "decode.cifar"}, {"use": "collate.stack"}, {"use": "copy.device"}],
    "train": {"kind": "emulated"}})",
                                           "test", test::all_stages(), {".", "/cache"});
  const JobOptions options{.opening = {.stop = stop.get_token()}};
  CHECK(test::has(test::error_of([&] { open_job(spec, test::all_stages(), options); }), "stopped"));
  CHECK(test::entries_in(folder.path()) == 0);  // nothing half generated
}

TEST_CASE("a job with a registry runs live arms with overrides") {
  const Registry& registry = test::all_stages();
  const char* const json = R"({
    "name": "small", "batch_size": 8, "workers": 1, "device": "emulated",
    "stages": [{"use": "synthetic.read", "bytes": 16, "samples": 64},
               {"use": "collate.stack"}, {"use": "copy.device"}],
    "train": {"kind": "emulated"}})";
  const Pipeline pipeline = Pipeline::from_json(json, registry);
  for (const Job& job :
       {open_job(pipeline, &registry), open_job(PipelineSpec(pipeline.spec()), registry)}) {
    CHECK(job.device->kind() == DeviceKind::emulated);
    CHECK(job.make_replayer().supports(with_workers("2")));
  }
}

TEST_CASE("a job reads from the place that its nonce chooses, and draws one if it has none") {
  const Pipeline pipeline = test::random_chain({.samples = 50000, .workers = 1});
  const auto first_batch = [&](std::optional<std::uint64_t> nonce) {
    const auto step = std::make_shared<test::RecordingStep>();
    const Job job = open_job(pipeline, nullptr, {.step = step, .order_nonce = nonce});
    PipelineReplayer replayer = job.make_replayer();
    CHECK(replayer.describe().order_nonce == job.order->nonce());
    if (nonce) CHECK(job.order->nonce() == *nonce);
    if (!nonce) CHECK(job.order->nonce() - 1 < 999'999);
    replayer.run({{ArmKind::live, 0, 0, {}}, 1, 1, 0}, {});
    return step->seen.at(0).indices;
  };
  CHECK(first_batch(5) == first_batch(5));
  CHECK(first_batch(5) != first_batch(6));
  CHECK(first_batch(std::nullopt).size() == 8);
}
