// A chain whose samples wait, in front of the emulated device.
#pragma once

#include <string>

#include "support/all_stages.hpp"

#include "cachebisect/pipeline/pipeline.hpp"

namespace cachebisect::test {

/// Batches of 4 samples that wait; steps of `step_ms` on the emulated device.
inline Pipeline waiting_chain(double wait_us, double step_ms) {
  return Pipeline::from_json(
      R"({"batch_size": 4, "workers": "auto", "shuffle": false, "device": "emulated", "stages": [
            {"use": "synthetic.read", "bytes": 16, "samples": 100000},
            {"use": "synthetic.wait", "us": )" +
          std::to_string(wait_us) + R"(}, {"use": "collate.stack"}, {"use": "copy.device"}],
          "train": {"kind": "emulated"}, "emulate": {"step_ms": )" +
          std::to_string(step_ms) + "}}",
      all_stages());
}

}  // namespace cachebisect::test
