#include "stages/datasets/append_samples.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "cachebisect/base/parallel.hpp"

namespace cachebisect::stages {

void append_samples(NewFile& file, std::uint64_t count, std::size_t bytes_each, std::uint64_t grain,
                    const std::stop_token& stop,
                    const std::function<void(std::uint64_t, std::byte*)>& draw) {
  constexpr std::size_t kBytesAtOnce = std::size_t{16} << 20;
  const std::uint64_t piece = std::max<std::uint64_t>(1, kBytesAtOnce / bytes_each);
  std::vector<std::byte> content(std::min(piece, count) * bytes_each);
  for (std::uint64_t first = 0; first < count; first += piece) {
    const std::uint64_t drawn = std::min(piece, count - first);
    parallel_for(drawn, grain, stop,
                 [&](std::uint64_t i) { draw(first + i, content.data() + i * bytes_each); });
    file.append(std::span(content).first(drawn * bytes_each));
  }
}

}  // namespace cachebisect::stages
