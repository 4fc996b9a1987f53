// Stages from the user's callables, for PipelineBuilder. Their outputs are learnt by running them.
#pragma once

#include <functional>
#include <span>

#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect {

/// Up to four positions in a data set of this size: the first, the last and two between.
std::vector<std::uint64_t> probe_indices(std::uint64_t size);

/// The common spec of `outputs`; dimensions in which they differ are kDynamic. Throws Error(data)
/// naming two samples that differ in fields, dtype or rank.
SampleSpec spec_of(std::span<const Sample> outputs);

class CallableSource final : public SourceStage {
 public:
  using Read = std::function<void(SampleIndex, Sample&)>;
  CallableSource(std::uint64_t size, Read read) : size_(size), read_(std::move(read)) {}

  [[nodiscard]] std::uint64_t size() const override { return size_; }
  /// Reads a few samples.
  [[nodiscard]] SampleSpec infer() override;
  void read(Sample& out, const SampleContext& context) const override {
    read_(context.index(), out);
  }

 private:
  std::uint64_t size_;
  Read read_;
};

class CallableStage final : public SampleStage {
 public:
  using Process = std::function<void(const Sample&, Sample&)>;
  explicit CallableStage(Process process) : process_(std::move(process)) {}

  /// What learn() found; throws Error(internal) before the first call of learn().
  [[nodiscard]] SampleSpec infer(const SampleSpec& input) override;
  void process(const Sample& input, Sample& out, const SampleContext& /*context*/) const override {
    process_(input, out);
  }
  /// Takes the spec from `outputs` of this stage.
  void learn(std::span<const Sample> outputs) { learnt_ = spec_of(outputs); }

 private:
  Process process_;
  SampleSpec learnt_;
};

}  // namespace cachebisect
