// Counts every allocation of a program that is linked with allocation_counter.cpp.
#pragma once

#include <atomic>
#include <cstdint>

namespace cachebisect::test {

extern std::atomic<std::uint64_t> allocations;

}  // namespace cachebisect::test
