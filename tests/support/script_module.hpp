// TorchScript files, and batches for them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/files.hpp"
#include "support/torch_headers.hpp"
#include "support/torch_step.hpp"

namespace cachebisect::test {

/// A module of this source, with tensors of its own.
class ScriptSource {
 public:
  explicit ScriptSource(std::string source) : source_(std::move(source)) {
    module_.register_attribute("training", c10::BoolType::get(), true);
  }
  ScriptSource& parameter(const std::string& name, const at::Tensor& value, bool trained = true) {
    module_.register_parameter(name, value.clone().set_requires_grad(trained), false);
    return *this;
  }
  ScriptSource& buffer(const std::string& name, const at::Tensor& value) {
    module_.register_buffer(name, value.clone());
    return *this;
  }
  /// Writes the file, and returns its path.
  std::string save(const TemporaryFolder& folder, const std::string& name = "net.pt") {
    module_.define(source_);
    module_.save(folder.path(name));
    return folder.path(name);
  }

 private:
  torch::jit::Module module_{"Net"};
  std::string source_;
};

/// Weights that differ from one another, from -0.1 to 0.1.
inline at::Tensor weights(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return at::sin(at::arange(count, at::kFloat)).mul_(0.1).reshape(shape);
}

inline DType dtype_of(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kByte:
      return DType::uint8;
    case at::kLong:
      return DType::int64;
    case at::kDouble:
      return DType::float64;
    default:
      return DType::float32;
  }
}

/// A batch over the memory of tensors.
class TensorBatch {
 public:
  explicit TensorBatch(std::vector<std::pair<std::string, at::Tensor>> fields)
      : fields_(std::move(fields)) {
    batch.size = fields_.front().second.size(0);
    for (const auto& [name, tensor] : fields_) {
      const Shape shape(std::span(tensor.sizes().data(), tensor.sizes().size()));
      batch.fields.push_back(
          {name, dense_view(static_cast<std::byte*>(tensor.data_ptr()), dtype_of(tensor), shape)});
    }
  }
  TensorBatch(const TensorBatch&) = delete;
  TensorBatch& operator=(const TensorBatch&) = delete;

  [[nodiscard]] BatchSpec spec() const {
    BatchSpec spec;
    for (const BatchField& field : batch.fields) {
      spec.push_back({field.name, field.tensor.dtype, field.tensor.shape});
    }
    return spec;
  }

  DeviceBatch batch;

 private:
  std::vector<std::pair<std::string, at::Tensor>> fields_;
};

inline ModelStepRequest module_request(const std::string& file, const TensorBatch& batch,
                                       const OptimizerSpec& optimizer = {}) {
  ModelStepRequest request;
  request.train.kind = TrainSpec::Kind::module;
  request.train.module = file;
  request.train.optimizer = optimizer;
  request.input = batch.spec();
  return request;
}

inline at::Tensor wavy_images(std::int64_t count = 12) {
  return at::cos(at::arange(count * 3 * 4 * 4, at::kFloat)).reshape({count, 3, 4, 4});
}
inline at::Tensor five_labels(std::int64_t count = 12) { return at::arange(count).remainder(5); }

/// Images [12, 3, 4, 4] with labels of 5 classes.
struct ClassBatch : TensorBatch {
  ClassBatch() : TensorBatch({{"image", wavy_images()}, {"label", five_labels()}}) {}
};

/// Logits of 5 classes from the numbers of an image.
inline ScriptSource linear_module(bool trained = true) {
  ScriptSource source(R"(
def forward(self, image):
    return torch.matmul(image.flatten(1), self.weight)
)");
  source.parameter("weight", weights({48, 5}), trained);
  return source;
}

}  // namespace cachebisect::test
