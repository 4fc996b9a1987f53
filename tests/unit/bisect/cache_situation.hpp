// A chain of photos of which it is known what each stage costs and makes.
#pragma once

#include <string>

#include "cachebisect/bisect/advice/advice.hpp"

namespace cachebisect::test {

struct CacheSituation {
  Measurements measured;
  Waterfall waterfall;

  void add(const std::string& name, const std::string& type, double cpu, double bytes,
           bool cacheable) {
    StageDescription described{.name = name, .type = type, .cacheable = cacheable};
    described.category = category_of(type);
    described.kind = measured.chain.stages.empty() ? StageKind::source : StageKind::sample;
    if (type == "collate.stack") described.kind = StageKind::collate;
    measured.chain.stages.push_back(described);
    StageReport stage{.index = static_cast<int>(measured.chain.stages.size()), .name = name};
    stage.type = type;
    stage.category = category_of(type);
    stage.cacheable = cacheable;
    stage.cpu_seconds_per_sample = cpu;
    stage.wait_seconds_per_sample = 0;
    stage.output_bytes = bytes;
    waterfall.stages.push_back(stage);
  }
};

/// 1,000 samples: 100 kB each as files, 1 MB as images; crop is random.
inline CacheSituation photos(double memory_bytes) {
  CacheSituation now;
  now.measured.chain.settings.of_file = true;
  now.measured.chain.samples = 1000;
  now.measured.machine.memory_available_bytes = memory_bytes;
  now.add("read", "read.image_folder", 1e-4, 1e5, true);
  now.add("decode", "decode.image", 1e-3, 1e6, true);
  now.add("crop", "augment.random_crop", 1e-4, 1e5, false);
  now.add("collate", "collate.stack", 1e-6, 1e5, false);
  return now;
}

}  // namespace cachebisect::test
