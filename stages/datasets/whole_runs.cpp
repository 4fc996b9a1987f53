#include "stages/datasets/whole_runs.hpp"

#include <algorithm>

namespace cachebisect::stages {

WholeRuns::WholeRuns(std::size_t count, const std::function<Piece(std::size_t)>& piece,
                     std::uint64_t buffer_bytes) {
  std::uint64_t samples = 2;
  for (std::size_t i = 0; i < count; ++i) {
    const Piece next = piece(i);
    samples = std::max(samples, next.samples);
    if (next.bytes > bytes) largest = i;
    bytes = std::max(bytes, next.bytes);
  }
  const std::uint64_t room = buffer_bytes / bytes;
  fits = room >= kWholeRunsAtLeast;
  if (!fits) return;
  // Half for the pieces that are mixed now, half for those that threads are ahead with; runs of
  // other sizes than the pieces lie in one more.
  runs = {.samples = samples, .mixed = std::max<std::uint64_t>(1, (room - 2) / 2)};
  slots = static_cast<std::size_t>(std::min<std::uint64_t>(count + 1, room));
}

FileRange share_of(const FileRange& whole, std::uint64_t sample, std::uint64_t samples) {
  const std::uint64_t each = whole.bytes / samples;
  const std::uint64_t more = whole.bytes % samples;  // the first have one byte more
  return {whole.path, whole.offset + each * sample + std::min(sample, more),
          each + (sample < more ? 1 : 0)};
}

}  // namespace cachebisect::stages
