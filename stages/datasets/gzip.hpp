// Inflates gzip files into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cachebisect::stages {

/// The inflated content of the gzip file at `path` (several members are joined, as gzip does).
/// Throws Error(data) when it is not a gzip file, is damaged or truncated, or inflates to over
/// `limit` bytes.
std::vector<std::byte> read_gzip(const std::string& path, std::uint64_t limit);

}  // namespace cachebisect::stages
