// CRC-32C (Castagnoli), as TFRecord files have it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "cachebisect/base/export.hpp"

namespace cachebisect::stages {

[[nodiscard]] CACHEBISECT_INTERNAL_API std::uint32_t crc32c(
    std::span<const std::byte> bytes) noexcept;
/// By a table of 8 KiB, as where the processor has no instruction for it.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::uint32_t crc32c_by_table(
    std::span<const std::byte> bytes) noexcept;

}  // namespace cachebisect::stages
