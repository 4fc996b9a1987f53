// Bytes of a data set that a source holds in memory from the time it opens.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "cachebisect/base/file.hpp"
#include "cachebisect/pipeline/open_context.hpp"
#include "cachebisect/pipeline/params.hpp"

namespace cachebisect::stages {

/// Memory in huge pages where the system gives them: samples at random places are read at twice the
/// speed. Move only.
class HeldBytes {
 public:
  HeldBytes() = default;
  /// Throws Error(data) if there is no room.
  explicit HeldBytes(std::size_t size);

  [[nodiscard]] std::span<std::byte> bytes() noexcept { return {data_.get(), size_}; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* data) const noexcept;
  };

  std::unique_ptr<std::byte, Free> data_;
  std::size_t size_ = 0;
};

/// The whole file. Throws Error(usage) if it needs more than the memory that is available,
/// Error(data) if it cannot be read or has become shorter, and Error(interrupted) if `context` asks
/// to stop.
HeldBytes read_whole(const InputFile& file, const OpenContext& context);

/// `in_memory` of sources with small samples.
ParamSpec in_memory_param();

}  // namespace cachebisect::stages
