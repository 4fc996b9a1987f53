// The headers of tar archives: POSIX (ustar and pax), GNU, and those before them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cachebisect/base/export.hpp"

namespace cachebisect::stages {

inline constexpr std::size_t kTarBlockBytes = 512;
using TarBlock = std::span<const std::byte, kTarBlockBytes>;

struct TarHeader {
  char type = '0';
  std::string name;
  std::optional<std::uint64_t> bytes{};  ///< of what follows; empty if that is no number
};

/// Whether the block has nothing but zeros, as those that end an archive.
[[nodiscard]] CACHEBISECT_INTERNAL_API bool ends_tar(TarBlock block) noexcept;
/// Empty if the block's check sum is not that of its bytes.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<TarHeader> read_tar_header(TarBlock block);

/// What headers of their own (pax, GNU's long names) say of the member behind them.
struct TarExtras {
  std::optional<std::string> name{};
  std::optional<std::uint64_t> bytes{};
  bool sparse = false;  ///< what is stored are pieces of the file
};

/// Adds what the records of a pax header say. False if they are damaged.
[[nodiscard]] CACHEBISECT_INTERNAL_API bool read_pax(std::string_view records, TarExtras& extras);

}  // namespace cachebisect::stages
