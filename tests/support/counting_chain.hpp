// A chain without costs.
#pragma once

#include "cachebisect/pipeline/pipeline.hpp"

namespace cachebisect::test {

/// 64 samples, each the number that is its index, in batches of 4; no workers.
inline Pipeline counting_chain(const CopyOptions& copy) {
  return PipelineBuilder{}
      .source("read", 64,
              [](SampleIndex i, Sample& out) {
                out.field("x").set<std::int64_t>(static_cast<std::int64_t>(i.value));
              })
      .collate()
      .copy(copy)
      .batch_size(4)
      .workers(0)
      .build();
}

}  // namespace cachebisect::test
