// Runs the generation of a data set on several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>

#include "stages/datasets/file.hpp"

namespace cachebisect::stages {

/// Calls work(i) for i in [0, count) on as many threads as this process may use; a thread takes
/// `grain` consecutive i at a time. The first exception stops the rest and is rethrown. Throws
/// Error(interrupted) on `stop`.
void parallel_for(std::uint64_t count, std::uint64_t grain, const std::stop_token& stop,
                  const std::function<void(std::uint64_t)>& work);

/// Draws `count` samples of `bytes_each` bytes as parallel_for() does, and appends them to `file`
/// in their order, a few MB at a time.
void append_samples(NewFile& file, std::uint64_t count, std::size_t bytes_each, std::uint64_t grain,
                    const std::stop_token& stop,
                    const std::function<void(std::uint64_t, std::byte*)>& draw);

}  // namespace cachebisect::stages
