// Four elements per thread and turn: one wide access instead of four, and arithmetic with indices
// once.
#pragma once

#include <cstdint>

#include "cachebisect/device/cuda/launch.cuh"

namespace cachebisect::cuda::kernels {

constexpr std::int64_t kQuad = 4;

template <class T>
struct alignas(kQuad * sizeof(T)) Quad {
  T values[kQuad];  // NOLINT(modernize-avoid-c-arrays): std::array has no device members
};

template <class T>
bool is_aligned_to(const void* data) {
  return reinterpret_cast<std::uintptr_t>(data) % alignof(T) == 0;
}

/// Whole quads of `count` elements; none if their addresses do not allow them.
template <class From, class To>
std::int64_t quads_of(const From* from, const To* to, std::int64_t count) {
  const bool aligned = is_aligned_to<Quad<From>>(from) && is_aligned_to<Quad<To>>(to);
  return aligned ? count / kQuad : 0;
}

/// Turns of the loop over quads, or over the elements that are in none.
inline std::int64_t turns_of(std::int64_t quads, std::int64_t count) {
  const std::int64_t rest = count - kQuad * quads;
  return quads > rest ? quads : rest;
}

}  // namespace cachebisect::cuda::kernels
