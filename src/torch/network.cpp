#include "network.hpp"

#include <array>
#include <mutex>
#include <string>
#include <utility>

#include <ATen/CPUGeneratorImpl.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include "cachebisect/base/error.hpp"

namespace cachebisect::torch_module {

/// Base of the networks. The destructor is out of line so that the vtable is emitted once.
class Network::Impl : public torch::nn::Module {
 public:
  ~Impl() override;
  virtual at::Tensor run(const at::Tensor& images) = 0;
};

Network::Impl::~Impl() = default;

namespace {

namespace nn = torch::nn;

/// 784-128-64-classes with ReLU, over images of 28x28.
class Mlp final : public Network::Impl {
 public:
  explicit Mlp(std::int64_t classes)
      : fc1_(register_module("fc1", nn::Linear(784, 128))),
        fc2_(register_module("fc2", nn::Linear(128, 64))),
        fc3_(register_module("fc3", nn::Linear(64, classes))) {}

  at::Tensor run(const at::Tensor& images) override {
    const at::Tensor hidden = at::relu(fc1_->forward(images.flatten(1)));
    return fc3_->forward(at::relu(fc2_->forward(hidden)));
  }

 private:
  nn::Linear fc1_;
  nn::Linear fc2_;
  nn::Linear fc3_;
};

/// LeNet-5 (LeCun et al. 1998) in the form usual for CIFAR: ReLU, max pooling, 3x32x32 images.
class LeNet final : public Network::Impl {
 public:
  explicit LeNet(std::int64_t classes)
      : conv1_(register_module("conv1", nn::Conv2d(nn::Conv2dOptions(3, 6, 5)))),
        conv2_(register_module("conv2", nn::Conv2d(nn::Conv2dOptions(6, 16, 5)))),
        fc1_(register_module("fc1", nn::Linear(16 * 5 * 5, 120))),
        fc2_(register_module("fc2", nn::Linear(120, 84))),
        fc3_(register_module("fc3", nn::Linear(84, classes))) {}

  at::Tensor run(const at::Tensor& images) override {
    at::Tensor x = at::max_pool2d(at::relu(conv1_->forward(images)), 2);
    x = at::max_pool2d(at::relu(conv2_->forward(x)), 2).flatten(1);
    x = at::relu(fc2_->forward(at::relu(fc1_->forward(x))));
    return fc3_->forward(x);
  }

 private:
  nn::Conv2d conv1_;
  nn::Conv2d conv2_;
  nn::Linear fc1_;
  nn::Linear fc2_;
  nn::Linear fc3_;
};

/// Convolution without bias, then batch normalisation.
class ConvNorm final : public nn::Module {
 public:
  ConvNorm(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride)
      : conv_(register_module("conv", nn::Conv2d(nn::Conv2dOptions(in, out, kernel)
                                                     .stride(stride)
                                                     .padding(kernel / 2)
                                                     .bias(false)))),
        norm_(register_module("norm", nn::BatchNorm2d(out))) {
    nn::init::kaiming_normal_(conv_->weight, 0, torch::kFanOut, torch::kReLU);
  }

  at::Tensor forward(const at::Tensor& x) { return norm_->forward(conv_->forward(x)); }

 private:
  nn::Conv2d conv_;
  nn::BatchNorm2d norm_;
};

enum class BlockKind { basic, bottleneck };

constexpr std::int64_t expansion(BlockKind kind) { return kind == BlockKind::bottleneck ? 4 : 1; }

/// A residual block (He et al. 2015); the bottleneck's stride is in its 3x3 convolution, as in
/// torchvision.
class Residual final : public nn::Module {
 public:
  Residual(BlockKind kind, std::int64_t in, std::int64_t width, std::int64_t stride) {
    const std::int64_t out = width * expansion(kind);
    if (kind == BlockKind::basic) {
      add(in, width, 3, stride);
      add(width, out, 3, 1);
    } else {
      add(in, width, 1, 1);
      add(width, width, 3, stride);
      add(width, out, 1, 1);
    }
    if (stride != 1 || in != out) {
      downsample_ = register_module("downsample", std::make_shared<ConvNorm>(in, out, 1, stride));
    }
  }

  at::Tensor forward(const at::Tensor& x) {
    at::Tensor y = x;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      y = layers_[i]->forward(y);
      if (i + 1 < layers_.size()) y.relu_();
    }
    y += downsample_ ? downsample_->forward(x) : x;
    return y.relu_();
  }

 private:
  void add(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride) {
    layers_.push_back(register_module("layer" + std::to_string(layers_.size() + 1),
                                      std::make_shared<ConvNorm>(in, out, kernel, stride)));
  }

  std::vector<std::shared_ptr<ConvNorm>> layers_;
  std::shared_ptr<ConvNorm> downsample_;
};

/// ResNet for images of any size, built like torchvision's resnet18 and resnet50 (v1.5).
class ResNet final : public Network::Impl {
 public:
  ResNet(BlockKind kind, const std::array<int, 4>& depths, std::int64_t classes)
      : stem_(register_module("stem", std::make_shared<ConvNorm>(3, 64, 7, 2))) {
    std::int64_t in = 64;
    std::int64_t width = 64;
    for (std::size_t group = 0; group < depths.size(); ++group, width *= 2) {
      for (int i = 0; i < depths[group]; ++i) {
        const std::int64_t stride = (i == 0 && group > 0) ? 2 : 1;
        blocks_.push_back(register_module("block" + std::to_string(blocks_.size() + 1),
                                          std::make_shared<Residual>(kind, in, width, stride)));
        in = width * expansion(kind);
      }
    }
    fc_ = register_module("fc", nn::Linear(in, classes));
  }

  at::Tensor run(const at::Tensor& images) override {
    at::Tensor x = at::max_pool2d(stem_->forward(images).relu_(), 3, 2, 1);
    for (const auto& block : blocks_) x = block->forward(x);
    return fc_->forward(at::adaptive_avg_pool2d(x, {1, 1}).flatten(1));
  }

 private:
  std::shared_ptr<ConvNorm> stem_;
  std::vector<std::shared_ptr<Residual>> blocks_;
  nn::Linear fc_{nullptr};
};

struct Entry {
  std::string_view name;
  ImageInput input;
  std::shared_ptr<Network::Impl> (*make)(std::int64_t classes);
};

template <class Net>
std::shared_ptr<Network::Impl> make(std::int64_t classes) {
  return std::make_shared<Net>(classes);
}

template <BlockKind kind, int... depths>
std::shared_ptr<Network::Impl> make_resnet(std::int64_t classes) {
  return std::make_shared<ResNet>(kind, std::array{depths...}, classes);
}

constexpr std::array<Entry, 4> kEntries{{
    {"mlp", {1, 28, 28}, make<Mlp>},
    {"lenet", {3, 32, 32}, make<LeNet>},
    {"resnet18", {3, 0, 0}, make_resnet<BlockKind::basic, 2, 2, 2, 2>},
    {"resnet50", {3, 0, 0}, make_resnet<BlockKind::bottleneck, 3, 4, 6, 3>},
}};

const Entry& find_entry(std::string_view model) {
  std::string known;
  for (const Entry& entry : kEntries) {
    if (entry.name == model) return entry;
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw Error(ErrorKind::usage,
              "train.model: there is no model \"" + std::string(model) + "\"; known are " + known);
}

/// Seeds the generator from which torch::nn draws weights; the destructor restores its earlier
/// state.
class SeededInit {
 public:
  explicit SeededInit(std::uint64_t seed) : generator_(at::detail::getDefaultCPUGenerator()) {
    const std::lock_guard lock(generator_.mutex());
    state_ = generator_.get_state();
    generator_.set_current_seed(seed);
  }
  ~SeededInit() {
    const std::lock_guard lock(generator_.mutex());
    generator_.set_state(state_);
  }
  SeededInit(const SeededInit&) = delete;
  SeededInit& operator=(const SeededInit&) = delete;

 private:
  at::Generator generator_;
  at::Tensor state_;
};

}  // namespace

ImageInput image_input(std::string_view model) { return find_entry(model).input; }

Network::Network(std::string_view model, std::int64_t classes, std::uint64_t seed) {
  const Entry& entry = find_entry(model);
  const SeededInit seeded(seed);
  impl_ = entry.make(classes);
}

Network::~Network() = default;

void Network::to(const c10::Device& device) { impl_->to(device); }

at::Tensor Network::forward(const std::vector<at::Tensor>& inputs) {
  return impl_->run(inputs.front());
}

std::vector<at::Tensor> Network::parameters() const { return impl_->parameters(); }

std::vector<at::Tensor> Network::buffers() const { return impl_->buffers(); }

std::int64_t parameter_count(const Network& network) {
  std::int64_t count = 0;
  for (const at::Tensor& parameter : network.parameters()) count += parameter.numel();
  return count;
}

}  // namespace cachebisect::torch_module
