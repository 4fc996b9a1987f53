#include "stages/datasets/generate_photos.hpp"

#include <filesystem>

#include "stages/codecs/jpeg.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/file.hpp"
#include "cachebisect/base/parallel.hpp"

namespace cachebisect::stages {

#ifdef CACHEBISECT_WITH_TURBOJPEG
namespace {

constexpr unsigned kClasses = 10;
constexpr int kQuality = 91;

std::string padded(std::uint64_t number, std::size_t digits) {
  const std::string text = std::to_string(number);
  return std::string(digits - std::min(digits, text.size()), '0') + text;
}

std::string class_folder(const std::string& folder, unsigned class_index) {
  return folder + "/class_" + padded(class_index, 2);
}

}  // namespace

void generate_photos(const std::string& folder, std::uint64_t samples,
                     const std::stop_token& stop) {
  for (unsigned i = 0; i < kClasses; ++i)
    std::filesystem::create_directory(class_folder(folder, i));
  parallel_for(samples, 1, stop, [&](std::uint64_t i) {
    const auto class_index = static_cast<unsigned>(i % kClasses);
    const RgbImage photo = draw_photo(i, class_index);
    write_file(class_folder(folder, class_index) + "/photo_" + padded(i, 6) + ".jpg",
               encode_jpeg(photo.pixels, {photo.width, photo.height}, kQuality));
  });
}
#else
void generate_photos(const std::string& /*folder*/, std::uint64_t /*samples*/,
                     const std::stop_token& /*stop*/) {
  throw Error(ErrorKind::usage,
              "this build cannot write JPEG files; build with CACHEBISECT_WITH_TURBOJPEG=ON, or "
              "give a \"path\" that has images");
}
#endif

}  // namespace cachebisect::stages
