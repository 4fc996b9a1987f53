#include "stages/datasets/generate_archives.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "stages/datasets/data_folder.hpp"
#include "stages/datasets/generate_photos.hpp"
#include "stages/datasets/tar_header.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/file.hpp"
#include "cachebisect/base/parallel.hpp"
#include "cachebisect/objects/byte_source.hpp"

namespace cachebisect::stages {
namespace {

constexpr std::uint64_t kSamplesPerArchive = 200;

/// An archive in memory, by POSIX.1-1988 (ustar).
class TarBytes {
 public:
  void add(const std::string& name, std::span<const std::byte> content) {
    add_header(name, content.size());
    bytes_.insert(bytes_.end(), content.begin(), content.end());
    pad();
  }
  /// With the two empty blocks that end it.
  [[nodiscard]] std::span<const std::byte> finish() {
    bytes_.resize(bytes_.size() + 2 * kTarBlockBytes);
    return bytes_;
  }

 private:
  void add_header(const std::string& name, std::size_t size) {
    std::array<char, kTarBlockBytes> header{};
    const auto put = [&](std::size_t at, const std::string& text) {
      std::memcpy(&header.at(at), text.data(), text.size());
    };
    put(0, name);
    put(100, "0000644");
    put(108, "0000000");
    put(116, "0000000");
    put(124, octal(size, 11));
    put(136, octal(0, 11));
    put(148, "        ");
    put(156, "0");
    put(257, std::string("ustar\0"
                         "00",
                         8));
    std::size_t sum = 0;
    for (const char byte : header) sum += static_cast<unsigned char>(byte);
    put(148, octal(sum, 6) + std::string("\0 ", 2));
    const auto raw = std::as_bytes(std::span(header));
    bytes_.insert(bytes_.end(), raw.begin(), raw.end());
  }

  static std::string octal(std::size_t number, std::size_t digits) {
    std::string text(digits, '0');
    for (std::size_t at = digits; at > 0 && number > 0; number /= 8)
      text[--at] = static_cast<char>('0' + number % 8);
    return text;
  }

  void pad() {
    const std::size_t blocks = (bytes_.size() + kTarBlockBytes - 1) / kTarBlockBytes;
    bytes_.resize(blocks * kTarBlockBytes);
  }

  std::vector<std::byte> bytes_;
};

void generate_archives(const std::string& folder, std::uint64_t samples,
                       const std::stop_token& stop) {
  const std::uint64_t archives = (samples + kSamplesPerArchive - 1) / kSamplesPerArchive;
  parallel_for(archives, 1, stop, [&](std::uint64_t number) {
    TarBytes tar;
    const std::uint64_t begin = number * kSamplesPerArchive;
    for (std::uint64_t i = begin; i < std::min(samples, begin + kSamplesPerArchive); ++i) {
      if (stop.stop_requested()) return;
      tar.add(photo_name(i) + ".jpg", photo_file(i));
      const std::string label = std::to_string(photo_class(i));
      tar.add(photo_name(i) + ".cls", std::as_bytes(std::span(label)));
    }
    write_file(folder + "/photos-" + padded(number, 6) + ".tar", tar.finish());
  });
}

}  // namespace

void require_archive_folder(const std::string& path) {
  const bool is_pattern = path.find('{') != std::string::npos;
  if (!is_pattern && !is_remote_path(path) && !path.ends_with(".tar")) return;
  throw Error(ErrorKind::usage, path +
                                    ": what is generated is a local folder of archives; give its "
                                    "path, or leave out \"if_missing\"");
}

void require_archives(const std::string& path, std::uint64_t samples, const std::stop_token& stop) {
  require_data(
      path, true,
      {.kind = "photo-like archives",
       .samples = samples,
       .bytes = samples * kPhotoBytes,
       .write = [&](const std::string& folder) { generate_archives(folder, samples, stop); }});
}

}  // namespace cachebisect::stages
