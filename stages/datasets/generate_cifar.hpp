// Generates data sets in CIFAR's binary format, for use without the real ones: one pattern per
// class under noise.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

namespace cachebisect::stages {

/// Writes data_batch_1..5.bin with `samples` records in total and test_batch.bin with a fifth as
/// many; the same bytes on every run. Throws Error(interrupted) on `stop`.
void generate_cifar10(const std::string& folder, std::uint64_t samples,
                      const std::stop_token& stop);
/// Writes train.bin and test.bin, with coarse and fine labels; a fifth as many test records. Throws
/// Error(interrupted) on `stop`.
void generate_cifar100(const std::string& folder, std::uint64_t samples,
                       const std::stop_token& stop);

}  // namespace cachebisect::stages
