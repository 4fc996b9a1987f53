// CUDA graphs by LibTorch (at::cuda::CUDAGraph), as torch.cuda.graph() records them.
#include "../step_graph.hpp"
#include <ATen/cuda/CUDAGraph.h>

#include "cachebisect/base/export.hpp"

namespace cachebisect::torch_module {
namespace {

class CudaGraph final : public StepGraph {
 public:
  void record(const std::function<void()>& work) override {
    // Other threads copy batches in the meantime: only this one must keep to what can be recorded.
    graph_.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
    try {
      work();
    } catch (...) {
      abandon();
      throw;
    }
    graph_.capture_end();
  }
  void replay() override { graph_.replay(); }

 private:
  /// Ends the capture; the error of `work` is the one that counts.
  void abandon() noexcept {
    try {
      graph_.capture_end();
    } catch (...) {
      return;
    }
  }

  at::cuda::CUDAGraph graph_;
};

}  // namespace
}  // namespace cachebisect::torch_module

extern "C" CACHEBISECT_INTERNAL_API cachebisect::torch_module::StepGraph*
cachebisect_make_step_graph() {
  return new cachebisect::torch_module::CudaGraph();
}
