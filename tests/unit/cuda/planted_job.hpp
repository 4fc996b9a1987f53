// A job on CUDA whose costs are planted.
#pragma once

#include <string>

#include "support/all_stages.hpp"

#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/replay/job/open_job.hpp"

namespace cachebisect::test {

inline constexpr double kPlantedStepMs = 20;
inline constexpr int kPlantedBatch = 8;
inline constexpr int kPlantedSampleBytes = 10'000;

/// read, a stage that waits for `wait_us` per sample, collate, copy, and a step that takes
/// kPlantedStepMs.
inline Job planted_job(double wait_us = 0) {
  const std::string json = R"({"name": "planted", "batch_size": )" + std::to_string(kPlantedBatch) +
                           R"(, "workers": 2, "device": "cuda", "stages": [
      {"use": "synthetic.read", "bytes": )" +
                           std::to_string(kPlantedSampleBytes) + R"(, "samples": 256},
      {"use": "synthetic.wait", "name": "delay", "us": )" +
                           std::to_string(wait_us) + R"(},
      {"use": "collate.stack"},
      {"use": "copy.device", "pinned": true, "non_blocking": true, "prefetch": 2}],
      "train": {"kind": "emulated"}, "emulate": {"step_ms": )" +
                           std::to_string(kPlantedStepMs) + "}}";
  const Registry& registry = all_stages();
  return open_job(Pipeline::from_json(json, registry), &registry, {.order_nonce = 0});
}

}  // namespace cachebisect::test
