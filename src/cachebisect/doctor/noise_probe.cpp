#include "cachebisect/doctor/noise_probe.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/pace.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/replay/job/open_job.hpp"
#include "cachebisect/train/train_step.hpp"

namespace cachebisect {
namespace {

constexpr std::int64_t kSide = 128;
constexpr std::size_t kImageBytes = kSide * kSide * 3;
constexpr std::uint64_t kImages = 256;
constexpr std::int64_t kBatch = 16;
constexpr double kWorkSeconds = 150e-6;  ///< per sample
constexpr double kWaitSeconds = 100e-6;  ///< per sample
constexpr EmulateSpec kStep{.step_ms = 0.5};
constexpr double kBlockSeconds = 0.040;
constexpr int kWarmup = 2;
constexpr int kMaxVoid = 20;
constexpr double kWatchSeconds = 0.5;

using Table = std::array<std::uint8_t, 256>;

Table inverting_table() {
  Table table{};
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<std::uint8_t>(255 - i);
  return table;
}

/// One pass over an image, through a table, as an augmentation would.
void transform(const std::uint8_t* from, std::uint8_t* to, const Table& table) {
  for (std::size_t i = 0; i < kImageBytes; ++i) to[i] = table[from[i]];
}

/// A fixed amount of work per sample: it takes longer if the clock slows down or other processes
/// run.
class WorkStage final : public SampleStage {
 public:
  explicit WorkStage(int passes) : passes_(passes), table_(inverting_table()) {}
  [[nodiscard]] SampleSpec infer(const SampleSpec& input) override { return input; }
  void process(const Sample& input, Sample& out, const SampleContext& /*context*/) const override {
    const auto from = input.field("image").as<std::uint8_t>();
    const auto to = out.field("image").resize_as<std::uint8_t>(input.field("image").shape());
    for (int pass = 0; pass < passes_; ++pass) transform(from.data(), to.data(), table_);
  }

 private:
  int passes_;
  Table table_;
};

class WaitStage final : public SampleStage {
 public:
  [[nodiscard]] SampleSpec infer(const SampleSpec& input) override { return input; }
  void process(const Sample& /*input*/, Sample& /*out*/,
               const SampleContext& /*context*/) const override {
    pass_wait(kWaitSeconds);
  }
};

/// The number of passes that take about kWorkSeconds now, from the fastest of several trials.
int calibrated_passes() {
  const Table table = inverting_table();
  std::vector<std::uint8_t> from(kImageBytes, 1);
  std::vector<std::uint8_t> to(kImageBytes);
  double fastest = 1;
  for (int i = 0; i < 20; ++i) {
    const double begin = monotonic_seconds();
    transform(from.data(), to.data(), table);
    fastest = std::min(fastest, monotonic_seconds() - begin);
    from.swap(to);
  }
  return std::max(1, static_cast<int>(std::lround(kWorkSeconds / std::max(fastest, 1e-7))));
}

Pipeline small_pipeline(int workers, const std::string& device) {
  const auto images = std::make_shared<std::vector<std::uint8_t>>(kImages * kImageBytes, 1);
  const auto read = [images](SampleIndex index, Sample& out) {
    const auto to = out.field("image").resize_as<std::uint8_t>({kSide, kSide, 3});
    std::memcpy(to.data(), images->data() + (index % kImages) * kImageBytes, kImageBytes);
  };
  const auto built = [](const char* type, std::shared_ptr<Stage> stage) {
    return BuiltStage{type, {}, std::move(stage)};
  };
  return PipelineBuilder{}
      .name("doctor")
      .source("read", std::uint64_t{1} << 30U, read)
      .stage("wait", built("doctor.wait", std::make_shared<WaitStage>()))
      .stage("work", built("doctor.work", std::make_shared<WorkStage>(calibrated_passes())))
      .collate()
      .copy()
      .batch_size(kBatch)
      .workers(workers)
      .device(device)
      .emulate(kStep)
      .build();
}

class Trace {
 public:
  Trace(PipelineReplayer& replayer, MachineWatch& watch, const std::stop_token& stop)
      : replayer_(replayer), watch_(watch), stop_(stop) {
    const double tau = block(10);
    steps_ = std::max(3, static_cast<int>(std::ceil(kBlockSeconds / (tau * kBatch))));
  }

  void pair() {
    replayer_.begin_round();
    const double begin = monotonic_seconds();
    const double first = block(steps_);
    const double second = block(steps_);
    wall_ += monotonic_seconds() - begin;
    trace_.block_taus.push_back(first);
    trace_.block_taus.push_back(second);
    trace_.differences.push_back(std::log(first / second));
    if (monotonic_seconds() - watched_ < kWatchSeconds) return;
    watched_ = monotonic_seconds();
    watch_.add(read_machine());
  }

  [[nodiscard]] NoiseTrace finished() const {
    NoiseTrace trace = trace_;
    trace.block_seconds = wall_ / static_cast<double>(trace_.block_taus.size());
    return trace;
  }

 private:
  double block(int steps) {
    for (int attempt = 0; attempt < kMaxVoid; ++attempt) {
      const BlockRequest request{.arm = {}, .steps = steps, .warmup_steps = kWarmup};
      const BlockResult result = replayer_.run(request, stop_);
      if (!result.is_void) return result.seconds / static_cast<double>(result.samples);
    }
    throw Error(ErrorKind::data,
                "the process was suspended repeatedly, so nothing can be measured");
  }

  PipelineReplayer& replayer_;
  MachineWatch& watch_;
  const std::stop_token& stop_;
  int steps_ = 3;
  double wall_ = 0;
  double watched_ = 0;
  NoiseTrace trace_;
};

}  // namespace

NoiseTrace measure_noise(double seconds, double usable_cpus, const std::string& device,
                         MachineWatch& watch, const std::stop_token& stop) {
  constexpr double kMaxWorkers = 4;
  const int workers = static_cast<int>(std::clamp(std::floor(usable_cpus), 1.0, kMaxWorkers));
  PipelineReplayer replayer = open_job(small_pipeline(workers, device), nullptr,
                                       {.step = make_emulated_step(kStep, 0), .order_nonce = 0})
                                  .make_replayer();
  watch.add(read_machine());
  const double end = monotonic_seconds() + seconds;
  Trace trace(replayer, watch, stop);
  do {
    trace.pair();
  } while (monotonic_seconds() < end);
  watch.add(read_machine());
  return trace.finished();
}

}  // namespace cachebisect
