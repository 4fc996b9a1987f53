// The samples of one tar archive, as WebDataset groups them, and where each lies.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/objects/byte_source.hpp"

namespace cachebisect::stages {

/// As extensions are compared.
[[nodiscard]] std::string in_lower_case(std::string_view text);

/// Which members of a sample are read. Extensions are in lower case, without a dot before them.
struct SampleMembers {
  std::vector<std::string> image;  ///< the first that a sample has
  std::string label;               ///< empty: samples have none
};

/// Where the members of a sample lie in their archive.
struct TarSample {
  std::uint64_t image_offset = 0;
  std::uint64_t label_offset = 0;
  std::uint32_t image_bytes = 0;
  std::uint32_t label_bytes = 0;
  std::uint64_t name_end = 0;  ///< of the image's name in all names

  [[nodiscard]] std::uint64_t image_end() const noexcept { return image_offset + image_bytes; }
  [[nodiscard]] std::uint64_t label_end() const noexcept { return label_offset + label_bytes; }
  /// A sample without a label has it at the end of its image.
  [[nodiscard]] std::uint64_t begin() const noexcept {
    return std::min(image_offset, label_offset);
  }
  [[nodiscard]] std::uint64_t end() const noexcept { return std::max(image_end(), label_end()); }
};

/// 32 bytes per sample and the names of the images.
struct CACHEBISECT_INTERNAL_API TarIndex {
  std::vector<TarSample> samples;
  std::string names;  ///< one after the other

  [[nodiscard]] std::string_view name(std::size_t sample) const;
};

/// Reads the headers of an archive. Members that follow each other and have the same name up to the
/// first dot of its last part are a sample. Hidden members, those without an extension and those
/// like __meta__ are none. `on_members(n)` is called now and then: there were n more. Throws
/// Error(data) naming the archive and the sample if a sample lacks a member or has it twice, or
/// comes twice, or if there is none.
[[nodiscard]] CACHEBISECT_INTERNAL_API TarIndex
index_tar(const ByteSource& file, const SampleMembers& members,
          const std::function<void(std::uint64_t)>& on_members);

}  // namespace cachebisect::stages
