// Transposes by the layout: two swapped axes of which one is short, as images have with channels
// first or last, or any other order of axes.
#include "cachebisect/device/cuda/elements.cuh"
#include "cachebisect/device/cuda/kernels.hpp"

namespace cachebisect::cuda::kernels {
namespace {

/// The short axis is a loop of one thread, whose elements then share the lines of a cache.
constexpr std::int64_t kShortAxis = 16;

/// Output [outer, rows, columns] of input [outer, columns, rows].
struct Swap {
  std::int64_t outer = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

/// With the axes joined that follow each other in the input as they do in the output.
Gather joined(const Gather& gather) {
  Gather out;
  for (int axis = 0; axis < gather.rank; ++axis) {
    if (gather.shape[axis] == 1) continue;
    const int last = out.rank - 1;
    if (out.rank > 0 && out.strides[last] == gather.strides[axis] * gather.shape[axis]) {
      out.shape[last] *= gather.shape[axis];
      out.strides[last] = gather.strides[axis];
    } else {
      out.shape[out.rank] = gather.shape[axis];
      out.strides[out.rank++] = gather.strides[axis];
    }
  }
  return out;
}

/// Empty (outer is 0) if it is no swap of the last two axes.
Swap swap_of(const Gather& gather) {
  if (gather.rank != 2 && gather.rank != 3) return {};
  const int row = gather.rank - 2;
  const std::int64_t rows = gather.shape[row];
  const std::int64_t columns = gather.shape[row + 1];
  if (gather.strides[row] != 1 || gather.strides[row + 1] != rows) return {};
  if (row == 0) return {1, rows, columns};
  return gather.strides[0] == rows * columns ? Swap{gather.shape[0], rows, columns} : Swap{};
}

template <class Index, class T>
__global__ void few_rows_kernel(const T* __restrict__ from, T* __restrict__ to, Swap swap) {
  const std::int64_t count = swap.outer * swap.columns;
  for (std::int64_t i = first_element(); i < count; i += element_step()) {
    const Index outer = static_cast<Index>(i) / static_cast<Index>(swap.columns);
    const std::int64_t column = i - static_cast<std::int64_t>(outer) * swap.columns;
    const T* source = from + i * swap.rows;
    T* target = to + static_cast<std::int64_t>(outer) * swap.rows * swap.columns + column;
    for (std::int64_t row = 0; row < swap.rows; ++row) target[row * swap.columns] = source[row];
  }
}

template <class Index, class T>
__global__ void few_columns_kernel(const T* __restrict__ from, T* __restrict__ to, Swap swap) {
  const std::int64_t count = swap.outer * swap.rows;
  for (std::int64_t i = first_element(); i < count; i += element_step()) {
    const Index outer = static_cast<Index>(i) / static_cast<Index>(swap.rows);
    const std::int64_t row = i - static_cast<std::int64_t>(outer) * swap.rows;
    const T* source = from + static_cast<std::int64_t>(outer) * swap.rows * swap.columns + row;
    T* target = to + i * swap.columns;
    for (std::int64_t column = 0; column < swap.columns; ++column) {
      target[column] = source[column * swap.rows];
    }
  }
}

template <class Index, class T>
__global__ void gather_kernel(const T* __restrict__ from, T* __restrict__ to, Gather gather,
                              std::int64_t count) {
  for (std::int64_t i = first_element(); i < count; i += element_step()) {
    auto rest = static_cast<Index>(i);
    std::int64_t at = 0;
    for (int axis = gather.rank - 1; axis >= 0; --axis) {
      const auto size = static_cast<Index>(gather.shape[axis]);
      const Index next = rest / size;
      at += static_cast<std::int64_t>(rest - next * size) * gather.strides[axis];
      rest = next;
    }
    to[i] = from[at];
  }
}

template <class Index, class T>
cudaError_t launch_transpose(const T* from, T* to, const Gather& gather, std::int64_t count,
                             cudaStream_t stream) {
  const Swap swap = swap_of(gather);
  if (swap.outer > 0 && swap.rows <= kShortAxis) {
    return launch(few_rows_kernel<Index, T>, swap.outer * swap.columns, stream, from, to, swap);
  }
  if (swap.outer > 0 && swap.columns <= kShortAxis) {
    return launch(few_columns_kernel<Index, T>, swap.outer * swap.rows, stream, from, to, swap);
  }
  return launch(gather_kernel<Index, T>, count, stream, from, to, gather, count);
}

}  // namespace

cudaError_t transpose(const void* from, void* to, std::size_t element_bytes, const Gather& gather,
                      std::int64_t count, cudaStream_t stream) {
  const Gather axes = joined(gather);
  return with_bits(element_bytes, [&](auto element) {
    return with_index(count, [&](auto index) {
      using T = typename decltype(element)::type;
      using Index = typename decltype(index)::type;
      return launch_transpose<Index>(static_cast<const T*>(from), static_cast<T*>(to), axes, count,
                                     stream);
    });
  });
}

}  // namespace cachebisect::cuda::kernels
