// Makes a pipeline anew with some of its values changed, to run a what-if.
#pragma once

#include <functional>
#include <memory>

#include "cachebisect/base/export.hpp"
#include "cachebisect/pipeline/registry.hpp"
#include "cachebisect/replay/pipeline_replayer.hpp"

namespace cachebisect {

/// For ReplayOptions::rebuild: applies overrides to the pipeline's spec as `--set` does. Device and
/// step are made anew only if the overrides affect them; a step that the caller made is kept. The
/// returned function throws Error(usage) naming the path that is wrong, and what
/// Pipeline::from_spec() throws. Keeps a reference to `registry`. `workers`: resolved. `opening`:
/// for the stages; what they share is that of `pipeline`.
CACHEBISECT_INTERNAL_API std::function<PipelineVariant(const Overrides&)> make_rebuild(
    const Pipeline& pipeline, std::shared_ptr<Device> device, int workers, const Registry& registry,
    OpenContext opening = {});

}  // namespace cachebisect
