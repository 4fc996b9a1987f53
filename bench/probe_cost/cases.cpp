#include "bench/probe_cost/cases.hpp"

#include <algorithm>
#include <memory>

#include "cachebisect/base/clock.hpp"

namespace cachebisect::probe_cost {
namespace {

constexpr std::int64_t kItemBytes = 1024;
constexpr int kStages = 3;

/// SplitMix64, iterated `rounds` times.
std::uint64_t mix(std::uint64_t value, std::uint64_t rounds) noexcept {
  for (std::uint64_t i = 0; i < rounds; ++i) {
    value += 0x9e3779b97f4a7c15U;
    value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
    value ^= value >> 31U;
  }
  return value;
}

double measure_rounds_per_microsecond() {
  constexpr std::uint64_t kRounds = 20000;
  double fastest = 1;
  std::uint64_t value = 1;
  for (int i = 0; i < 50; ++i) {
    const double began = monotonic_seconds();
    value = mix(value, kRounds);
    fastest = std::min(fastest, monotonic_seconds() - began);
  }
  // Uses the result, so that the compiler keeps the work.
  return kRounds / (1e6 * fastest) + (value == 0 ? 1 : 0);
}

class SmallSource final : public SourceStage {
 public:
  [[nodiscard]] std::uint64_t size() const override { return 1U << 24U; }
  [[nodiscard]] SampleSpec infer() override { return {{"image", DType::uint8, {kItemBytes}}}; }
  void read(Sample& out, const SampleContext& context) const override {
    auto bytes = out.field("image").resize_as<std::uint8_t>({kItemBytes});
    bytes[0] = static_cast<std::uint8_t>(context.index());
  }
};

/// Pure arithmetic, whose result goes into the first byte.
class WorkStage final : public SampleStage {
 public:
  explicit WorkStage(std::uint64_t rounds) : rounds_(rounds) {}
  [[nodiscard]] SampleSpec infer(const SampleSpec& input) override { return input; }
  void process(const Sample& input, Sample& out, const SampleContext& context) const override {
    if (rounds_ == 0) return;
    const Field& from = *input.find("image");
    auto bytes = out.field("image").resize_as<std::uint8_t>({kItemBytes});
    std::copy_n(from.as<std::uint8_t>().begin(), kItemBytes, bytes.begin());
    bytes[0] = static_cast<std::uint8_t>(mix(context.index(), rounds_));
  }

 private:
  std::uint64_t rounds_;
};

}  // namespace

std::vector<WorkCase> work_cases() {
  return {{"nothing", 0, 512}, {"4 us", 4}, {"12 us", 12}, {"50 us", 50}, {"1 ms", 1000, 8}};
}

WorkFactory::WorkFactory() : rounds_per_microsecond_(measure_rounds_per_microsecond()) {}

Pipeline WorkFactory::make(const WorkCase& work, bool emulated) const {
  const auto rounds =
      static_cast<std::uint64_t>(rounds_per_microsecond_ * work.microseconds / kStages);
  PipelineBuilder builder;
  builder.name(work.name).source("read", {"read.small", {}, std::make_shared<SmallSource>()});
  for (int i = 0; i < kStages; ++i) {
    builder.stage({"augment.work", {}, std::make_shared<WorkStage>(rounds)});
  }
  builder.device(emulated ? "emulated" : "cpu").emulate({.step_ms = 0});
  return builder.collate()
      .copy({.pinned = true, .non_blocking = true, .prefetch = 2})
      .batch_size(work.batch_size)
      .build();
}

}  // namespace cachebisect::probe_cost
