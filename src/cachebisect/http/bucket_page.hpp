// A page of the list of a bucket, as S3 answers a request for it (ListObjectsV2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

struct ListedObject {
  std::string key;
  std::uint64_t bytes = 0;
  std::string tag{};  ///< ETag, in quotation marks; empty: the server gives none
};

struct BucketPage {
  std::vector<ListedObject> objects{};
  /// Common beginnings of keys that are not listed themselves, each with the slash at its end.
  std::vector<std::string> folders{};
  std::string next{};  ///< token that the request for the next page carries; empty: the last page
};

/// A page of S3 has at most 1000 keys, each of at most 1024 bytes.
inline constexpr std::size_t kMostPageBytes = std::size_t{4} << 20U;

/// Throws Error(data) that says what is wrong: what is no such list, is cut short, or lacks a key,
/// a size, or the token of the page behind it.
[[nodiscard]] CACHEBISECT_INTERNAL_API BucketPage read_bucket_page(std::string_view xml);

}  // namespace cachebisect
