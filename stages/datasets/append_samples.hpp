// Draws the samples of a generated data set on several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>

#include "cachebisect/base/file.hpp"

namespace cachebisect::stages {

/// Draws `count` samples of `bytes_each` bytes as parallel_for() does, and appends them to `file`
/// in their order, a few MB at a time.
void append_samples(NewFile& file, std::uint64_t count, std::size_t bytes_each, std::uint64_t grain,
                    const std::stop_token& stop,
                    const std::function<void(std::uint64_t, std::byte*)>& draw);

}  // namespace cachebisect::stages
