// Stands in for the LibTorch module: the same entry point, a step named after its request.
#include "cachebisect/base/error.hpp"
#include "cachebisect/pipeline/registry.hpp"
#include "cachebisect/train/train_step.hpp"

namespace {

class NamedStep final : public cachebisect::TrainStep {
 public:
  explicit NamedStep(std::string name) : name_(std::move(name)) {}
  [[nodiscard]] std::string name() const override { return name_; }
  void step(const cachebisect::DeviceBatch& /*batch*/,
            const cachebisect::StepContext& /*context*/) override {}

 private:
  std::string name_;
};

cachebisect::TrainStep* make_step(const cachebisect::ModelStepRequest& request) {
  if (request.train.model == "unknown") {
    throw cachebisect::Error(cachebisect::ErrorKind::usage, "there is no model 'unknown'");
  }
  return new NamedStep(request.train.model + " from a module");
}

void destroy_step(cachebisect::TrainStep* step) { delete step; }

}  // namespace

extern "C" CACHEBISECT_API const cachebisect::TorchModule* cachebisect_torch_module() {
#ifdef OTHER_ABI
  static const cachebisect::TorchModule module{"cachebisect 0.0.0 of another compiler", make_step,
                                               destroy_step, nullptr, nullptr};
#else
  static const cachebisect::TorchModule module{cachebisect::plugin_abi(), make_step, destroy_step,
                                               nullptr, nullptr};
#endif
  return &module;
}
