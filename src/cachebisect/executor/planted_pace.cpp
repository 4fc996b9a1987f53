#include "cachebisect/executor/planted_pace.hpp"

#include <algorithm>
#include <cstddef>

namespace cachebisect {
namespace {

/// True if all of a worker's work is planted, so that the executor's own cost can be absorbed. The
/// training thread, as the worker, also trains, which costs nothing only on the emulated device.
bool all_planted(const Pipeline& pipeline, const Device& device, int workers) {
  const auto& stages = pipeline.stages();
  const auto collate = static_cast<std::ptrdiff_t>(pipeline.collate_position());
  return pipeline.copy_position() == pipeline.collate_position() + 1 &&
         std::all_of(stages.begin(), stages.begin() + collate,
                     [](const ChainStage& stage) { return stage.traits.planted; }) &&
         (workers > 0 || device.kind() == DeviceKind::emulated);
}

}  // namespace

PlantedPace::PlantedPace(const Pipeline& pipeline, const Device& device, int workers)
    : absorbs_(all_planted(pipeline, device, workers)) {}

WorkerPace PlantedPace::begun() const noexcept {
  WorkerPace pace;
  pace.begin(absorbs_);
  return pace;
}

}  // namespace cachebisect
