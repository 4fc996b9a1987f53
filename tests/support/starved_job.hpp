// A job on the emulated device whose costs are planted.
#pragma once

#include <string>

#include "support/all_stages.hpp"

#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/replay/job/open_job.hpp"

namespace cachebisect::test {

/// A stage waits for 250 us per sample next to a step of 2 ms for 16 samples.
inline Job starved_job(int workers) {
  const std::string text = R"({
    "name": "starved", "batch_size": 16, "workers": )" +
                           std::to_string(workers) + R"(, "shuffle": false,
    "stages": [
      {"use": "synthetic.read", "bytes": 1024, "samples": 100000},
      {"use": "synthetic.wait", "name": "slow", "us": 250},
      {"use": "collate.stack"},
      {"use": "copy.device", "prefetch": 2}
    ],
    "train": {"kind": "emulated"}, "device": "emulated", "emulate": {"step_ms": 2}
  })";
  const SpecPaths paths{.base_folder = ".", .cache_folder = "/tmp"};
  return open_job(parse_pipeline(text, "starved", all_stages(), paths), all_stages(),
                  {.order_nonce = 0});
}

}  // namespace cachebisect::test
