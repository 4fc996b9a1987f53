#include "stages/datasets/whole_runs.hpp"

#include <algorithm>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/number_format.hpp"

namespace cachebisect::stages {
namespace {

[[noreturn]] void refuse_piece(const WholePieces& pieces, std::size_t largest,
                               std::uint64_t bytes) {
  throw Error(ErrorKind::data, pieces.path(largest) + ": has " + std::string(pieces.name) +
                                   format_bytes(static_cast<double>(bytes)) +
                                   ", more than a quarter of shuffle_buffer_mb, where " +
                                   std::string(pieces.why));
}

}  // namespace

WholeRuns::WholeRuns(const WholePieces& pieces, std::uint64_t buffer_bytes) {
  std::uint64_t samples = 2;
  std::uint64_t bytes = 1;
  std::size_t largest = 0;
  for (std::size_t i = 0; i < pieces.count; ++i) {
    const WholePiece next = pieces.piece(i);
    samples = std::max(samples, next.samples);
    if (next.bytes > bytes) largest = i;
    bytes = std::max(bytes, next.bytes);
  }
  const std::uint64_t room = buffer_bytes / bytes;
  if (room < kWholeRunsAtLeast) refuse_piece(pieces, largest, bytes);
  // Half for the pieces that are mixed now, half for those that threads are ahead with; runs of
  // other sizes than the pieces lie in one more.
  runs = {.samples = samples, .mixed = std::max<std::uint64_t>(1, (room - 2) / 2)};
  slots = static_cast<std::size_t>(std::min<std::uint64_t>(pieces.count + 1, room));
}

FileRange share_of(const FileRange& whole, std::uint64_t sample, std::uint64_t samples) {
  const std::uint64_t each = whole.bytes / samples;
  const std::uint64_t more = whole.bytes % samples;  // the first have one byte more
  return {whole.path, whole.offset + each * sample + std::min(sample, more),
          each + (sample < more ? 1 : 0)};
}

}  // namespace cachebisect::stages
