// The functions of a step that the host limits are asked for, and are no part of any figure.
#include <algorithm>
#include <string>
#include <utility>

#include "support/forwarding_replayer.hpp"
#include "support/report_json.hpp"
#include "support/starved_chain.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/report/json/read_report.hpp"
#include "cachebisect/report/writers.hpp"

using namespace cachebisect;
using test::has;

namespace {

/// A simulated job in Python that can tell what its step spends its time in.
class TellingReplayer final : public test::ForwardingReplayer {
 public:
  using ForwardingReplayer::ForwardingReplayer;

  bool tells = true;
  DeviceKind device = DeviceKind::cpu;
  bool fails = false;
  int void_profiles = 0;
  int profiles = 0;

  [[nodiscard]] ChainDescription describe() const override {
    ChainDescription chain = ForwardingReplayer::describe();
    chain.settings.of_file = false;
    chain.profiles_steps = tells;
    chain.device_kind = device;
    return chain;
  }

  BlockResult run(const BlockRequest& request, const std::stop_token& stop) override {
    BlockResult block = ForwardingReplayer::run(request, stop);
    if (!request.profile) return block;
    ++profiles;
    CHECK(request.steps >= 20);
    CHECK(request.arm.boundary == static_cast<int>(describe().stages.size()));
    if (fails) throw Error(ErrorKind::data, "the training loop ended");
    block.is_void = profiles <= void_profiles;
    block.step_functions = {
        {.name = "loss.backward()", .file = "/job/train.py", .line = 95, .share = 0.52},
        {.name = "Net.preprocess",
         .file = "/job/net.py",
         .line = 8,
         .share = 0.4,
         .movable = true}};
    return block;
  }
};

Report run(TellingReplayer& job) { return bisect(job, {.sustain_seconds = 0}); }

TellingReplayer flat_job() { return TellingReplayer(test::starved_chain(1e-6)); }

}  // namespace

TEST_CASE("a flat job on the CPU names the functions of its step in every format") {
  TellingReplayer job = flat_job();
  const Report report = run(job);
  REQUIRE(report.verdict.kind == VerdictKind::flat);
  CHECK(job.profiles == 1);
  REQUIRE(report.step_functions.size() == 2);
  const std::string sentence =
      "On the host, a training step spends its time in loss.backward() (train.py:95, 52%) and "
      "Net.preprocess (net.py:8, 40%).";
  std::string text = to_text(report);
  std::ranges::replace(text, '\n', ' ');
  CHECK(has(text, sentence));
  CHECK(has(to_markdown(report), "Net.preprocess"));
  const Report again = read_report(test::json_text(report), "report.json");
  REQUIRE(again.step_functions.size() == 2);
  CHECK(again.step_functions[1].movable);
  CHECK(test::json_text(again) == test::json_text(report));
  REQUIRE_FALSE(report.remedies.empty());
  CHECK(report.remedies.front().id == "move_to_workers");
  CHECK(has(report.remedies.front().text, "run Net.preprocess in the loader's workers"));
  CHECK(has(report.remedies.front().reason, "40%"));
  for (const BlockRecord& block : report.blocks) CHECK(block.result.step_functions.empty());
}

TEST_CASE("a block that a validation fell into is run again") {
  TellingReplayer job = flat_job();
  job.void_profiles = 1;
  CHECK(run(job).step_functions.size() == 2);
  CHECK(job.profiles == 2);
}

TEST_CASE("a step that fails while it is profiled leaves the verdict as it is") {
  TellingReplayer job = flat_job();
  job.fails = true;
  const Report report = run(job);
  CHECK(report.verdict.kind == VerdictKind::flat);
  CHECK(report.step_functions.empty());
  CHECK_FALSE(report.interrupted);
  REQUIRE_FALSE(report.warnings.empty());
  CHECK(report.warnings.back().code == "run_failed");
}

TEST_CASE("nobody asks where the input, the device or a pipeline file limits the job") {
  TellingReplayer starved(test::starved_chain());
  CHECK(run(starved).verdict.kind == VerdictKind::drop);
  CHECK(starved.profiles == 0);
  TellingReplayer on_gpu = flat_job();
  on_gpu.device = DeviceKind::cuda;
  CHECK(run(on_gpu).verdict.kind == VerdictKind::flat);
  CHECK(on_gpu.profiles == 0);
  TellingReplayer in_a_file = flat_job();
  in_a_file.tells = false;
  CHECK(run(in_a_file).verdict.kind == VerdictKind::flat);
  CHECK(in_a_file.profiles == 0);
}
