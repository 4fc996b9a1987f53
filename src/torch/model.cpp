#include "model.hpp"

#include <c10/core/GradMode.h>

namespace cachebisect::torch_module {

Model::~Model() = default;

void make_channels_last(const Model& model) {
  const c10::NoGradGuard no_grad;
  for (const auto& tensors : {model.parameters(), model.buffers()}) {
    for (const at::Tensor& tensor : tensors) {
      if (tensor.dim() == 4) tensor.set_data(tensor.contiguous(at::MemoryFormat::ChannelsLast));
    }
  }
}

}  // namespace cachebisect::torch_module
