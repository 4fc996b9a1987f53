// Shared by the synthetic stages: bytes that cost nothing, costs with jitter.
#pragma once

#include <cstdint>
#include <vector>

#include "cachebisect/base/jitter.hpp"
#include "cachebisect/data/field.hpp"
#include "cachebisect/pipeline/registry.hpp"
#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect::stages {

/// Pseudo-random bytes that fields view: each index has its own window, and nothing is copied.
class FreeBytes {
 public:
  explicit FreeBytes(std::int64_t bytes);
  /// Makes `field` a view of the window of `index`.
  void show(std::uint64_t index, Field& field) const;
  [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_; }

 private:
  std::int64_t bytes_;
  std::vector<std::byte> data_;
};

/// The parameters `us` and `jitter`.
std::vector<ParamSpec> cost_params();

/// A sample stage that passes its input through and spends `us` microseconds, with jitter.
class CostStage : public SampleStage {
 public:
  explicit CostStage(const Params& params);

  [[nodiscard]] SampleSpec infer(const SampleSpec& input) final { return input; }
  void process(const Sample& input, Sample& out, const SampleContext& context) const final;

 protected:
  virtual void spend(double seconds, const SampleContext& context) const = 0;

 private:
  double seconds_;
  JitterSequence jitter_;
};

/// The parameter `bytes`.
ParamSpec bytes_param(std::string doc, std::int64_t default_value);

}  // namespace cachebisect::stages
