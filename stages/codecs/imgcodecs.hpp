// PNG, WebP, BMP, TIFF and PNM by OpenCV's imgcodecs. It loads over a hundred libraries, so it is
// in a separate module that the first such image opens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "stages/kernels/orientation.hpp"

namespace cachebisect::stages {

/// Receives a decoded image; the rows are valid until it returns.
using ReceiveRows = void (*)(void* user, const PixelRows& rows);
/// The module's only function, `cachebisect_imgcodecs_decode`: false if the bytes cannot be
/// decoded. Alpha is dropped, grey and palette become colour, 16 bits lose their lower byte.
using DecodeImage = bool (*)(const std::byte* bytes, std::size_t size, void* user,
                             ReceiveRows receive);

/// Opens the module: searched in CACHEBISECT_MODULE_PATH, then next to the library of stages. It is
/// never unloaded, because its libraries do not support that. Throws Error(usage) with the remedy
/// when this build has no such module or it is not found.
DecodeImage open_imgcodecs();

}  // namespace cachebisect::stages
