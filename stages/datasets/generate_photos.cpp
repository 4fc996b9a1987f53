#include "stages/datasets/generate_photos.hpp"

#include <algorithm>
#include <filesystem>

#include "stages/codecs/jpeg.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/file.hpp"
#include "cachebisect/base/parallel.hpp"

namespace cachebisect::stages {
namespace {

std::string class_folder(const std::string& folder, unsigned class_index) {
  return folder + "/class_" + padded(class_index, 2);
}

}  // namespace

std::string padded(std::uint64_t number, std::size_t digits) {
  const std::string text = std::to_string(number);
  return std::string(digits - std::min(digits, text.size()), '0') + text;
}

std::string photo_name(std::uint64_t index) { return "photo_" + padded(index, 6); }

void generate_photos(const std::string& folder, std::uint64_t samples,
                     const std::stop_token& stop) {
  for (std::uint64_t i = 0; i < kPhotoClasses; ++i)
    std::filesystem::create_directory(class_folder(folder, photo_class(i)));
  parallel_for(samples, 1, stop, [&](std::uint64_t i) {
    write_file(class_folder(folder, photo_class(i)) + "/" + photo_name(i) + ".jpg", photo_file(i));
  });
}

#ifdef CACHEBISECT_WITH_TURBOJPEG
std::vector<std::byte> photo_file(std::uint64_t index) {
  constexpr int kQuality = 91;
  const RgbImage photo = draw_photo(index, photo_class(index));
  return encode_jpeg(photo.pixels, {photo.width, photo.height}, kQuality);
}
#else
std::vector<std::byte> photo_file(std::uint64_t /*index*/) {
  throw Error(ErrorKind::usage,
              "this build cannot write JPEG files; build with CACHEBISECT_WITH_TURBOJPEG=ON, or "
              "give a \"path\" that has images");
}
#endif

}  // namespace cachebisect::stages
