// Steps through a StepGraph: the first ones as usual, then one that is recorded, then replays.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "step_graph.hpp"
#include <ATen/core/Tensor.h>

namespace cachebisect::torch_module {

/// What one step reads.
struct StepTensors {
  std::vector<at::Tensor> inputs;
  at::Tensor target;  ///< undefined if the loss has none
};

/// A graph reads the same memory in each replay: each batch is copied there first, as PyTorch's
/// users of graphs do. Not thread safe.
class RecordedStep {
 public:
  using Step = std::function<void(const StepTensors&)>;

  /// Steps before the recording, in which libraries choose their algorithms and optimizers make
  /// their state (PyTorch's CUDA semantics, "Whole-network capture").
  static constexpr int kWarmupSteps = 3;

  explicit RecordedStep(std::unique_ptr<StepGraph> graph) : graph_(std::move(graph)) {}

  /// Batches of another shape than the first one are stepped as usual. A step that cannot be
  /// recorded is an error that names train.cuda_graph; its kind is the one throw_meaning_of()
  /// finds.
  void step(const StepTensors& batch, const Step& step);

 private:
  void copy(const StepTensors& batch);
  [[nodiscard]] bool fits(const StepTensors& batch) const;

  std::unique_ptr<StepGraph> graph_;
  StepTensors held_;  // empty before the first batch
  int warmups_ = 0;   // up to kWarmupSteps
  bool recorded_ = false;
};

}  // namespace cachebisect::torch_module
