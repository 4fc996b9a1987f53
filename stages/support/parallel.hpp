// Work spread over threads while a data set is generated.
#pragma once

#include <cstdint>
#include <functional>

namespace cachebisect::stages {

/// Calls work(i) for i in [0, count) on as many threads as this process may use. The first
/// exception stops the rest and is rethrown.
void parallel_for(std::uint64_t count, const std::function<void(std::uint64_t)>& work);

}  // namespace cachebisect::stages
