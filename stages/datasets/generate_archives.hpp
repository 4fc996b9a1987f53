// Generates tar archives of photo-like JPEG files, as WebDataset writes them.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

namespace cachebisect::stages {

/// Throws Error(usage) unless `path` can be a local folder of archives.
void require_archive_folder(const std::string& path);
/// As require_data(), if nothing is at `path`: writes the photos of generate_photos() and their
/// classes as members NAME.jpg and NAME.cls of archives of 200 samples: photos-000000.tar and so
/// on. Throws Error(usage) in a build without TurboJPEG and Error(interrupted) on `stop`.
void require_archives(const std::string& path, std::uint64_t samples, const std::stop_token& stop);

}  // namespace cachebisect::stages
