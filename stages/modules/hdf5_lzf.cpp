// LZF, which h5py registers as filter 32000: decompression alone.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "stages/modules/hdf5_types.hpp"

namespace cachebisect::stages {
namespace {

constexpr H5Z_filter_t kLzf = 32000;
constexpr std::size_t kMostLzfBytes = std::size_t{1} << 30U;

/// The bytes made; empty for damaged data, and for more than `out` has room for.
std::optional<std::size_t> expand_lzf(std::span<const std::uint8_t> in,
                                      std::span<std::uint8_t> out) {
  std::size_t from = 0;
  std::size_t made = 0;
  while (from < in.size()) {
    const std::size_t control = in[from++];
    if (control < 32) {
      const std::size_t count = control + 1;
      if (count > in.size() - from || count > out.size() - made) return std::nullopt;
      std::copy_n(in.begin() + static_cast<std::ptrdiff_t>(from), count,
                  out.begin() + static_cast<std::ptrdiff_t>(made));
      from += count;
      made += count;
      continue;
    }
    std::size_t count = control >> 5U;
    if (count == 7) {
      if (from == in.size()) return std::nullopt;
      count += in[from++];
    }
    count += 2;
    if (from == in.size()) return std::nullopt;
    const std::size_t distance = ((control & 31U) << 8U) + in[from++] + 1;
    if (distance > made || count > out.size() - made) return std::nullopt;
    for (const std::size_t end = made + count; made < end; ++made) out[made] = out[made - distance];
  }
  return made;
}

/// libhdf5 calls it with a chunk, which it replaces.
std::size_t filter_lzf(unsigned flags, std::size_t value_count, const unsigned* values,
                       std::size_t bytes, std::size_t* room, void** chunk) {
  const bool expands = (flags & H5Z_FLAG_REVERSE) != 0;
  if (!expands || value_count < 3 || values[2] == 0 || values[2] > kMostLzfBytes) return 0;
  const std::size_t size = values[2];
  void* const memory = H5allocate_memory(size, false);
  if (memory == nullptr) return 0;
  const auto made = expand_lzf({static_cast<const std::uint8_t*>(*chunk), bytes},
                               {static_cast<std::uint8_t*>(memory), size});
  if (!made) {
    H5free_memory(memory);
    return 0;
  }
  H5free_memory(*chunk);
  *chunk = memory;
  *room = size;
  return *made;
}

}  // namespace

void register_lzf() {
  if (H5Zfilter_avail(kLzf) > 0) return;
  const H5Z_class2_t filter{H5Z_CLASS_T_VERS, kLzf, 0, 1, "lzf", nullptr, nullptr, filter_lzf};
  H5Zregister(&filter);
}

}  // namespace cachebisect::stages
