// A step whose CUDA calls are recorded once and replayed from then on.
#pragma once

#include <functional>
#include <memory>

namespace cachebisect::torch_module {

/// A graph of calls on the current stream. One thread.
class StepGraph {
 public:
  virtual ~StepGraph() = default;
  /// Calls `work` and keeps its CUDA calls, which are not executed. What it allocates stays
  /// allocated as long as the graph. Throws what `work` throws, and c10::Error for calls that
  /// cannot be recorded.
  virtual void record(const std::function<void()>& work) = 0;
  /// Submits the recorded calls. Allocates nothing.
  virtual void replay() = 0;
};

/// Opens the module that holds graphs, which alone is linked to LibTorch's CUDA library. Throws
/// Error(device) if this build has none.
std::unique_ptr<StepGraph> open_cuda_graph();

}  // namespace cachebisect::torch_module
