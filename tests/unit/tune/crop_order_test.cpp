// A pipeline file whose crop is moved up by the remedy trains on the same bits.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/all_stages.hpp"
#include "support/files.hpp"
#include "support/recording_step.hpp"
#include <doctest/doctest.h>

#include "cachebisect/bisect/advice/crop_move.hpp"
#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/replay/job/open_job.hpp"
#include "cachebisect/replay/pipeline_replayer.hpp"
#include "cachebisect/report/words/json_patch.hpp"

using namespace cachebisect;

namespace {

constexpr std::size_t kCompared = 13;

PipelineSpec cropped_cifar(const std::string& folder, const std::string& augments) {
  const std::string file = R"({"batch_size": 8, "workers": 1, "stages": [
    {"use": "read.cifar10", "path": ")" +
                           folder + R"(", "if_missing": "generate"},
    {"use": "decode.cifar"}, )" +
                           augments + R"(,
    {"use": "collate.stack", "layout": "NCHW"}, {"use": "copy.device"}],
    "train": {"kind": "emulated"}, "device": "cpu"})";
  return parse_pipeline(file, "test", test::all_stages(), {});
}

struct SeenRun {
  ChainDescription chain;
  std::vector<test::SeenBatch> batches;
};

SeenRun run_live(const PipelineSpec& spec) {
  const auto step = std::make_shared<test::RecordingStep>();
  const Job job = open_job(spec, test::all_stages(),
                           {.device = make_cpu_device(), .step = step, .order_nonce = 0});
  PipelineReplayer replayer = job.make_replayer();
  replayer.prepare({}, {});
  step->seen.clear();
  replayer.run({{ArmKind::live, 0, 0, {}}, 12, 1, 0}, {});
  SeenRun run{replayer.describe(), std::exchange(step->seen, {})};
  REQUIRE(run.batches.size() >= kCompared);  // And those that fill the queue.
  run.batches.resize(kCompared);
  return run;
}

}  // namespace

TEST_CASE("a crop that the remedy moves up gives the same batches") {
  const test::TemporaryFolder folder;
  const std::string jitter =
      R"({"use": "augment.color_jitter", "brightness": 0.4, "saturation": 0.4, "hue": 0.2})";
  const std::string floats =
      R"({"use": "augment.normalize", "mean": [0.5, 0.4, 0.3], "std": [0.2, 0.3, 0.4]})";
  for (const std::string crop : {R"({"use": "augment.random_crop", "size": 20})",
                                 R"({"use": "augment.center_crop", "height": 20, "width": 27})"}) {
    const std::string flip = R"({"use": "augment.vertical_flip"})";
    for (const std::string& augments : {jitter + ", " + floats + ", " + crop,
                                        jitter + ", " + floats + ", " + crop + ", " + flip}) {
      CAPTURE(augments);
      const PipelineSpec spec = cropped_cifar(folder.path("data"), augments);
      const SeenRun now = run_live(spec);
      const auto move = find_crop(now.chain, 2);
      REQUIRE(move);
      REQUIRE(move->why.empty());
      CHECK(move->first == 2);
      const PipelineSpec changed =
          patch_pipeline(spec, test::all_stages(), json_patch(edits_of(now.chain, *move)));
      CHECK(changed.stages[2].use != spec.stages[2].use);
      CHECK(run_live(changed).batches == now.batches);
    }
  }
}
