#include "step_graph.hpp"

#include "module_folder.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/shared_library.hpp"

namespace cachebisect::torch_module {

std::unique_ptr<StepGraph> open_cuda_graph() {
  const SharedLibrary library(module_folder() / "libcachebisect_torch_graph.so",
                              SharedLibrary::Unload::never);
  if (!library.is_open()) {
    throw Error(ErrorKind::device,
                "train.cuda_graph: this build cannot record CUDA graphs: " + library.error() +
                    "; build with the CUDA toolkit and a LibTorch for CUDA, or remove it");
  }
  const auto make = library.function<StepGraph* (*)()>("cachebisect_make_step_graph");
  return std::unique_ptr<StepGraph>(make());
}

}  // namespace cachebisect::torch_module
