#include "stages/datasets/zarr_decoder.hpp"

#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "stages/codecs/byte_reader.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/format/crc32c.hpp"

namespace cachebisect::stages {
namespace {

constexpr std::size_t kChecksumBytes = 4;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::span<const std::byte> without_checksum(std::span<const std::byte> stored) {
  if (stored.size() < kChecksumBytes) {
    throw Error(ErrorKind::data,
                "has " + std::to_string(stored.size()) + " bytes, too few for its checksum");
  }
  const auto content = stored.first(stored.size() - kChecksumBytes);
  if (read_unsigned<4>(stored, content.size(), ByteOrder::little) == crc32c(text_of(content)))
    return content;
  throw Error(ErrorKind::data, "does not match its checksum (crc32c)");
}

}  // namespace

ZarrDecoder::ZarrDecoder(std::vector<ZarrCodec> codecs) : codecs_(std::move(codecs)) {
  for (const ZarrCodec codec : codecs_) {
    if (codec != ZarrCodec::crc32c) decompressor_ = make_decompressor(codec);
  }
}

std::size_t ZarrDecoder::most_stored(std::size_t chunk_bytes) noexcept {
  constexpr std::size_t kFrames = 65'536;  // headers of the smallest chunks
  return chunk_bytes + chunk_bytes / 4 + kFrames;
}

void ZarrDecoder::decode(std::span<const std::byte> stored, std::span<std::byte> chunk,
                         Arena& scratch) const {
  for (std::size_t left = codecs_.size(); left > 0; --left) {
    if (codecs_[left - 1] == ZarrCodec::crc32c) {
      stored = without_checksum(stored);
      continue;
    }
    // What is left to undo are checksums.
    const std::size_t checksums = kChecksumBytes * (left - 1);
    const std::span<std::byte> out =
        checksums == 0 ? chunk : scratch.take(chunk.size() + checksums);
    decompressor_->expand(stored, out);
    if (checksums == 0) return;
    stored = out;
  }
  if (stored.size() != chunk.size()) {
    throw Error(ErrorKind::data, "has " + std::to_string(stored.size()) + " bytes instead of " +
                                     std::to_string(chunk.size()));
  }
  std::memcpy(chunk.data(), stored.data(), chunk.size());
}

}  // namespace cachebisect::stages
