// The data sets of the real chains, with their decoding and augmentation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/habits/chain.hpp"

namespace cachebisect::habits {

/// The stages of a real chain before collate.
struct DataSet {
  std::string name;
  std::vector<StageText> read_and_decode;
  std::vector<StageText> augment;
  std::vector<std::int64_t> batches;  ///< sizes to draw from
  std::string train;                  ///< on the cpu device; empty: only emulated
};

/// Photos, CIFAR and MNIST, as files that are generated if they are missing.
const std::vector<DataSet>& data_sets();

}  // namespace cachebisect::habits
