// What lies in a bucket of S3: its list, page by page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/http/bucket_page.hpp"
#include "cachebisect/http/part_reader.hpp"
#include "cachebisect/http/s3_address.hpp"

namespace cachebisect {

struct BucketListOptions {
  std::string path;          ///< "s3://bucket/prefix": what begins so is listed
  bool has_folders = false;  ///< keys with a slash behind the prefix are given as folders
  std::uint64_t most_keys = 10'000'000;  ///< and folders
  std::size_t most_empty_pages = 100;    ///< that lead to another page
};

/// May take what it needs out of the page.
using OnBucketPage = std::function<void(BucketPage& page)>;

/// Calls `on_page` with each page, in the order of keys. Throws Error(usage) for a path that is
/// none, Error(data) that names the path if the list cannot be read, is no list, has other keys
/// than asked for, goes on without new ones, or has more than `most_keys`; Error(interrupted) on a
/// stop.
CACHEBISECT_INTERNAL_API void list_bucket(PartReader& reader, const S3Settings& settings,
                                          const BucketListOptions& options,
                                          const OnBucketPage& on_page);

}  // namespace cachebisect
