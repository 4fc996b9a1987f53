// Settings of emulated storage that tests share.
#pragma once

#include "cachebisect/storage/storage_model.hpp"

namespace cachebisect::test {

/// Answers at once, to any number of requests.
inline StorageSettings unlimited_storage() {
  return {.median_seconds = 0,
          .p99_seconds = 0,
          .bytes_per_second = 0,
          .requests_per_second = 0,
          .burst = 1,
          .seed = 1};
}

}  // namespace cachebisect::test
