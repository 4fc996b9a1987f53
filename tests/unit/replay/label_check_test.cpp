// Labels that a model has no output for are found while the caches fill, before a device reads
// them.
#include "cachebisect/replay/cache/label_check.hpp"

#include <memory>
#include <string>

#include "support/all_stages.hpp"
#include "support/errors.hpp"
#include "support/recording_step.hpp"
#include <doctest/doctest.h>

#include "cachebisect/replay/pipeline_replayer.hpp"

using namespace cachebisect;

namespace {

/// The label of a sample is its index.
Pipeline chain(int samples, const std::string& train, const std::string& more = "") {
  const std::string text = R"({"batch_size": 4, "workers": 0, "shuffle": false, "train": )" +
                           train + R"(, "device": "cpu", "stages": [
      {"use": "synthetic.read", "bytes": 16, "samples": )" +
                           std::to_string(samples) + R"(},
      {"use": "collate.stack"}, {"use": "copy.device"})" +
                           more + "]}";
  return Pipeline::from_json(text, test::all_stages());
}

std::string failure(const Pipeline& pipeline, std::unique_ptr<Device> device,
                    std::shared_ptr<TrainStep> step) {
  PipelineReplayer replayer(pipeline, std::move(device), std::move(step),
                            ReplayOptions{IoMode::warm, {}});
  return test::error_of([&] { replayer.prepare({}, {}); });
}

std::string failure(const Pipeline& pipeline) {
  const auto step = std::make_shared<test::RecordingStep>();
  const std::string message = failure(pipeline, make_cpu_device(), step);
  CHECK(step->seen.empty());
  return message;
}

}  // namespace

TEST_CASE("a label beyond train.classes is refused with its sample") {
  CHECK(failure(chain(64, R"({"model": "lenet", "classes": 10})")) ==
        "3: label 10 of sample 10, train.classes is 10: labels must be from 0 to 9; set "
        "train.classes to the number of classes");
  CHECK(failure(chain(64, R"({"model": "lenet", "classes": 64})")) == "");
}

TEST_CASE("labels are left alone unless a model takes them as class numbers") {
  const std::string model = R"({"model": "lenet", "classes": 10})";
  CHECK(failure(chain(64, model, R"(, {"use": "device.one_hot", "classes": 64})")) == "");
  CHECK(failure(chain(64, R"({"kind": "emulated"})")) == "");
  CHECK(failure(chain(64, model), make_emulated_device({}),
                std::make_shared<test::TimedStep>(0.0)) == "");
}

TEST_CASE("labels that the loss ignores are allowed, other negative ones are not") {
  std::int64_t labels[] = {3, -100, 9, -1};
  HostBatch batch;
  batch.size = 4;
  batch.indices = {{20}, {21}, {22}, {23}};
  batch.fields = {
      {"label", dense_view(reinterpret_cast<std::byte*>(labels), DType::int64, Shape{4})}};
  const Pipeline pipeline = chain(64, R"({"model": "lenet", "classes": 10})");
  CHECK(test::error_message(
            [&] {
              check_labels(pipeline, {&batch, 1});
            },
            ErrorKind::data)
            .starts_with("label -1 of sample 23"));
  labels[3] = 0;
  check_labels(pipeline, {&batch, 1});
}
