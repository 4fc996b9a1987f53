#include "stages/codecs/video.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/own_module.hpp"

namespace cachebisect::stages {

OpenVideo open_video_module() {
#ifdef CACHEBISECT_WITH_LIBAV
  constexpr const char* kFunction = "cachebisect_video_open";
  return open_own_module("libcachebisect_video.so", kFunction)->function<OpenVideo>(kFunction);
#else
  throw Error(
      ErrorKind::usage,
      "this build has no video decoder (libav); install libavformat-dev, libavcodec-dev "
      "and libswscale-dev (scripts/setup --video) and build with CACHEBISECT_WITH_LIBAV=ON");
#endif
}

}  // namespace cachebisect::stages
