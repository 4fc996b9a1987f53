#include "stages/codecs/imgcodecs.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/own_module.hpp"

namespace cachebisect::stages {

DecodeImage open_imgcodecs() {
#ifdef CACHEBISECT_WITH_OPENCV
  constexpr const char* kFunction = "cachebisect_imgcodecs_decode";
  return open_own_module("libcachebisect_imgcodecs.so", kFunction)
      ->function<DecodeImage>(kFunction);
#else
  throw Error(ErrorKind::usage,
              "this build can only decode JPEG; build with CACHEBISECT_WITH_OPENCV=ON");
#endif
}

}  // namespace cachebisect::stages
