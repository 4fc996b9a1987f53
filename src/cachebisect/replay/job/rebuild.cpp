#include "cachebisect/replay/job/rebuild.hpp"

#include <utility>

#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/replay/job/make_device.hpp"
#include "cachebisect/replay/job/make_train_step.hpp"

namespace cachebisect {
namespace {

class Rebuild {
 public:
  Rebuild(const Pipeline& pipeline, std::shared_ptr<Device> device, int workers,
          const Registry& registry, OpenContext opening)
      : spec_(pipeline.spec()),
        step_input_(pipeline.device_spec()),
        device_(std::move(device)),
        workers_(workers),
        registry_(&registry),
        opening_(std::move(opening)) {
    opening_.shared = pipeline.shared();
  }

  PipelineVariant operator()(const Overrides& overrides) const {
    PipelineVariant variant{Pipeline::from_spec(changed(overrides), *registry_, opening_)};
    const PipelineSpec& spec = variant.pipeline.spec();
    const bool other_accelerator =
        device_->kind() == DeviceKind::emulated && spec.emulate != spec_.emulate;
    if (spec.device != spec_.device || other_accelerator) {
      variant.device = make_device(spec);
    }
    Device& device = variant.device ? *variant.device : *device_;
    const bool other_workers = overrides.contains("workers") && spec.workers != kAutoWorkers;
    const int workers = other_workers ? spec.workers : workers_;
    if (needs_step(variant, device, workers)) {
      variant.step = make_train_step(variant.pipeline, device, workers, registry_);
    }
    return variant;
  }

 private:
  [[nodiscard]] PipelineSpec changed(const Overrides& overrides) const {
    std::vector<SpecOverride> sets;
    for (const auto& [path, value] : overrides) sets.push_back({path, value});
    return change_pipeline(spec_, *registry_, sets);
  }

  [[nodiscard]] bool needs_step(const PipelineVariant& variant, const Device& device,
                                int workers) const {
    const PipelineSpec& spec = variant.pipeline.spec();
    if (device.kind() == DeviceKind::emulated) return variant.device != nullptr;
    if (spec.train.kind == TrainSpec::Kind::callback) return false;
    const bool other_threads =
        device.kind() == DeviceKind::cpu && workers != workers_ && !spec.train.threads;
    const bool other_emulation =
        spec.train.kind == TrainSpec::Kind::emulated && spec.emulate != spec_.emulate;
    return variant.device != nullptr || spec.train != spec_.train || other_threads ||
           other_emulation || variant.pipeline.device_spec() != step_input_;
  }

  PipelineSpec spec_;
  BatchSpec step_input_;
  std::shared_ptr<Device> device_;
  int workers_;
  const Registry* registry_;
  OpenContext opening_;
};

}  // namespace

std::function<PipelineVariant(const Overrides&)> make_rebuild(const Pipeline& pipeline,
                                                              std::shared_ptr<Device> device,
                                                              int workers, const Registry& registry,
                                                              OpenContext opening) {
  return Rebuild(pipeline, std::move(device), workers, registry, std::move(opening));
}

}  // namespace cachebisect
