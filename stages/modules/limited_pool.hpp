// Memory of Arrow with a limit: what a file claims to hold is asked for before it is read.
#pragma once

#include <cstdint>

#include <arrow/memory_pool.h>
#include <arrow/status.h>

namespace cachebisect::stages {

/// For one thread.
class LimitedPool final : public arrow::ProxyMemoryPool {
 public:
  explicit LimitedPool(std::int64_t most_bytes)
      : ProxyMemoryPool(arrow::default_memory_pool()), most_bytes_(most_bytes) {}

  using ProxyMemoryPool::Allocate;
  using ProxyMemoryPool::Reallocate;

  arrow::Status Allocate(std::int64_t size, std::int64_t alignment, std::uint8_t** out) override {
    ARROW_RETURN_NOT_OK(check(0, size));
    return ProxyMemoryPool::Allocate(size, alignment, out);
  }
  arrow::Status Reallocate(std::int64_t old_size, std::int64_t new_size, std::int64_t alignment,
                           std::uint8_t** ptr) override {
    ARROW_RETURN_NOT_OK(check(old_size, new_size));
    return ProxyMemoryPool::Reallocate(old_size, new_size, alignment, ptr);
  }

 private:
  [[nodiscard]] arrow::Status check(std::int64_t old_size, std::int64_t new_size) const {
    if (new_size <= most_bytes_ - (bytes_allocated() - old_size)) return arrow::Status::OK();
    return arrow::Status::OutOfMemory("its pages claim more than ", most_bytes_, " bytes");
  }

  std::int64_t most_bytes_;
};

}  // namespace cachebisect::stages
