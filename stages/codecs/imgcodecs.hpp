// PNG, WebP, BMP, TIFF and PNM by OpenCV's imgcodecs, which loads well over a hundred libraries: it
// stands in a module of its own that is opened when the first such image comes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "stages/codecs/orientation.hpp"

namespace cachebisect::stages {

/// What the module hands a decoded image to; the rows live until it returns.
using ReceiveRows = void (*)(void* user, const PixelRows& rows);
/// The module's one function, `cachebisect_imgcodecs_decode`: false when the bytes cannot be
/// decoded. Alpha is dropped, grey and palette become colour, 16 bits lose their lower byte.
using DecodeImage = bool (*)(const std::byte* bytes, std::size_t size, void* user,
                             ReceiveRows receive);

/// The module's function. Throws Error(usage) with the remedy when this build has no such module or
/// it cannot be found. Searched in CACHEBISECT_MODULE_PATH, then beside the library of stages. Once
/// opened, it stays: its libraries cannot be unloaded.
DecodeImage open_imgcodecs();

}  // namespace cachebisect::stages
