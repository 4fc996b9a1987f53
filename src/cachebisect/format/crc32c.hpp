// CRC-32C, the checksum of iSCSI (RFC 3720, 12.1) and of TensorFlow's record files.
#pragma once

#include <cstdint>
#include <string_view>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// The checksum of all bytes: Castagnoli's polynomial, reflected, with initial value and final
/// complement.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::uint32_t crc32c(std::string_view bytes) noexcept;
/// The same by tables of 8 KiB, as where the processor has no instruction for it.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::uint32_t crc32c_by_table(
    std::string_view bytes) noexcept;

}  // namespace cachebisect
