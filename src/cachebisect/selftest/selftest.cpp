#include "cachebisect/selftest/selftest.hpp"

#include <algorithm>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/protocol/device_kind.hpp"
#include "cachebisect/replay/job/make_device.hpp"
#include "cachebisect/replay/job/open_job.hpp"

namespace cachebisect::selftest {
namespace {

constexpr int kMaxCases = 100000;

void check(const Options& options) {
  if (options.cases < 1 || options.cases > kMaxCases) {
    throw Error(ErrorKind::usage, "selftest: the number of cases must lie in 1 to 100000");
  }
  if (!(options.budget_seconds > 0)) {
    throw Error(ErrorKind::usage, "selftest: the budget must be above 0 s");
  }
}

}  // namespace

bool Result::any_wrong() const {
  return std::any_of(scores.begin(), scores.end(),
                     [](const Score& score) { return score.outcome == Outcome::wrong; });
}

Report bisect_planted(const PlantedChain& planted, const BisectOptions& options,
                      const Registry& registry, const std::string& device) {
  const Job job = open_job(Pipeline::from_json(pipeline_json(planted, device), registry), &registry,
                           {.order_nonce = 0});
  PipelineReplayer replayer = job.make_replayer();
  return bisect(replayer, options);
}

void require_device(const std::string& name) {
  const auto device = parse_device_name(name);
  if (!device || !device->kind || device->kind == DeviceKind::cpu) {
    throw Error(ErrorKind::usage,
                "work is planted on device emulated or cuda[:N], not on '" + name + "'");
  }
  PipelineSpec spec;
  spec.device = name;
  (void)make_device(spec);
}

DrawOptions for_device(DrawOptions options, const std::string& name) {
  options.real_copy = name != "emulated";
  if (options.real_copy) options.min_stages = std::max(options.min_stages, 4);
  return options;
}

Result run(const Options& options, const Registry& registry) {
  check(options);
  require_device(options.device);
  Result result;
  result.options = options;
  DrawOptions draw_options;
  draw_options.cores = std::max(1, static_cast<int>(probe_machine().usable_cpus));
  draw_options = for_device(draw_options, options.device);
  for (int i = 0; i < options.cases && !options.stop.stop_requested(); ++i) {
    const PlantedChain planted = draw(options.seed + static_cast<std::uint64_t>(i), draw_options);
    BisectOptions bisect_options;
    bisect_options.budget_seconds = options.budget_seconds;
    bisect_options.sustain_seconds = 0;  // planted costs do not change with time
    bisect_options.seed = planted.seed;
    bisect_options.explain = false;
    bisect_options.stop = options.stop;
    if (options.progress) {
      bisect_options.progress = [&](const Progress& now) { options.progress(i, now); };
    }
    const Report report = bisect_planted(planted, bisect_options, registry, options.device);
    if (report.interrupted) break;
    result.scores.push_back(score(report, planted));
    if (options.finished) options.finished(result.scores.back());
  }
  result.interrupted = options.stop.stop_requested();
  return result;
}

}  // namespace cachebisect::selftest
