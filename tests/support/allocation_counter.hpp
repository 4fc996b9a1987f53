// Counts every allocation of a program that is linked with allocation_counter.cpp.
#pragma once

#include <atomic>
#include <cstdint>

namespace cachebisect::test {

extern std::atomic<std::uint64_t> allocations;
/// The size of all allocations so far, whether they were freed or not.
extern std::atomic<std::uint64_t> allocated_bytes;

}  // namespace cachebisect::test
