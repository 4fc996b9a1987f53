#include "stages/codecs/jpeg.hpp"

#include <string>

#include <turbojpeg.h>

#include "cachebisect/base/error.hpp"

namespace cachebisect::stages {

std::vector<std::byte> encode_jpeg(std::span<const std::uint8_t> rgb, JpegSize size, int quality) {
  const auto destroy = [](void* handle) { tjDestroy(handle); };
  const std::unique_ptr<void, decltype(destroy)> compressor(tjInitCompress(), destroy);
  const int width = static_cast<int>(size.width);
  const int height = static_cast<int>(size.height);
  std::vector<std::byte> jpeg(tjBufSize(width, height, TJSAMP_420));
  auto* data = reinterpret_cast<unsigned char*>(jpeg.data());
  unsigned long bytes = jpeg.size();  // NOLINT(google-runtime-int): the library's type
  if (!compressor || tjCompress2(compressor.get(), rgb.data(), width, 0, height, TJPF_RGB, &data,
                                 &bytes, TJSAMP_420, quality, TJFLAG_NOREALLOC) != 0) {
    throw Error(ErrorKind::internal,
                "JPEG encoding failed: " + std::string(tjGetErrorStr2(compressor.get())));
  }
  jpeg.resize(bytes);
  return jpeg;
}

}  // namespace cachebisect::stages
