#include "stages/codecs/audio.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/own_module.hpp"

namespace cachebisect::stages {

OpenAudio open_audio_module() {
#ifdef CACHEBISECT_WITH_SNDFILE
  constexpr const char* kFunction = "cachebisect_audio_open";
  return open_own_module("libcachebisect_audio.so", kFunction)->function<OpenAudio>(kFunction);
#else
  throw Error(
      ErrorKind::usage,
      "this build has no audio decoder (libsndfile); build with CACHEBISECT_WITH_SNDFILE=ON "
      "where libsndfile1-dev is installed");
#endif
}

}  // namespace cachebisect::stages
