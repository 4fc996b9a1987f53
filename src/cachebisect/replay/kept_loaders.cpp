#include "cachebisect/replay/kept_loaders.hpp"

#include <utility>

#include "cachebisect/base/machine.hpp"
#include "cachebisect/executor/slot_memory.hpp"

namespace cachebisect {
namespace {

/// The number of rings for arms that explain a verdict: bypasses, the shadow.
constexpr std::size_t kMoreRings = 4;
constexpr double kShareOfMemory = 0.25;

std::size_t rings_that_fit(const Pipeline& pipeline, const ExecutorOptions& options) {
  const double bytes_per_sample = slot_bytes_per_sample(pipeline);
  if (options.workers == 0 || bytes_per_sample <= 0) return 0;
  const double ring = bytes_per_sample * static_cast<double>(pipeline.batch_size()) *
                      (options.workers + options.prefetch + 1);
  return static_cast<std::size_t>(kShareOfMemory * available_memory().spare_bytes / ring);
}

}  // namespace

Arm same_ring(Arm arm) {
  arm.observed = true;
  arm.ranks = {};
  if (arm.kind == ArmKind::null || arm.kind == ArmKind::live) arm.kind = ArmKind::replay;
  return arm;
}

KeptLoaders::KeptLoaders(const Pipeline& pipeline, Device& device, const ExecutorOptions& options,
                         bool keeps)
    : pipeline_(&pipeline),
      device_(&device),
      options_(options),
      needed_(last_boundary() + 1 + kMoreRings),
      limit_(keeps ? rings_that_fit(pipeline, options) : 0) {}

/// Batches of later boundaries are cached as the copy takes them.
std::size_t KeptLoaders::last_boundary() const noexcept { return pipeline_->copy_position() - 1; }

bool KeptLoaders::loads(const Arm& arm) const noexcept {
  if (options_.workers == 0) return false;
  const bool replays = arm.kind == ArmKind::replay || arm.kind == ArmKind::null;
  return !replays || static_cast<std::size_t>(arm.boundary) <= last_boundary();
}

Executor* KeptLoaders::find(const Arm& arm) {
  if (!fit() || !loads(arm)) return nullptr;
  const Arm ring = same_ring(arm);
  const auto found = loaders_.find(ring);
  if (found != loaders_.end()) return found->second.get();
  if (loaders_.size() >= limit_) return nullptr;
  auto loader = std::make_unique<Executor>(*pipeline_, *device_, options_);
  return loaders_.emplace(ring, std::move(loader)).first->second.get();
}

void KeptLoaders::drop() {
  for (const auto& [arm, loader] : loaders_) loader->halt();
}

void KeptLoaders::drop_views() {
  const std::size_t collate = pipeline_->collate_position();
  for (const auto& [arm, loader] : loaders_) {
    const int served = arm.kind == ArmKind::bypass ? arm.stage : arm.boundary;
    if (static_cast<std::size_t>(served) > collate) loader->halt();
  }
}

}  // namespace cachebisect
