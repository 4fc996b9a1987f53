// The module that codecs/imgcodecs.hpp opens: the only code that links OpenCV's imgcodecs.
#include "stages/codecs/imgcodecs.hpp"
#include <opencv2/imgcodecs.hpp>

#include "cachebisect/base/export.hpp"

namespace cachebisect::stages {
namespace {

/// Empty for damaged data: the codecs throw, with messages about their code rather than the data.
cv::Mat decode(const std::byte* bytes, std::size_t size) {
  try {
    // imdecode takes a mutable Mat but does not write to it.
    const cv::Mat encoded(1, static_cast<int>(size), CV_8UC1,
                          const_cast<std::byte*>(bytes));  // NOLINT
    return cv::imdecode(encoded, cv::IMREAD_COLOR | cv::IMREAD_IGNORE_ORIENTATION);
  } catch (const cv::Exception&) {
    return {};
  }
}

}  // namespace
}  // namespace cachebisect::stages

extern "C" CACHEBISECT_INTERNAL_API bool cachebisect_imgcodecs_decode(
    const std::byte* bytes, std::size_t size, void* user,
    cachebisect::stages::ReceiveRows receive) {
  const cv::Mat image = cachebisect::stages::decode(bytes, size);
  if (image.empty() || image.type() != CV_8UC3) return false;
  receive(user,
          {image.data, image.cols, image.rows, static_cast<std::int64_t>(image.step[0]), true});
  return true;
}
