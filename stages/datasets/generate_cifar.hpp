// Data sets in CIFAR's binary files with a pattern a class under noise, for when the real ones are
// not at hand.
#pragma once

#include <cstdint>
#include <string>

namespace cachebisect::stages {

/// data_batch_1..5.bin with `samples` records in all and test_batch.bin with a fifth as many; the
/// same bytes on every run.
void generate_cifar10(const std::string& folder, std::uint64_t samples);
/// train.bin and test.bin, with coarse and fine labels.
void generate_cifar100(const std::string& folder, std::uint64_t samples);

}  // namespace cachebisect::stages
