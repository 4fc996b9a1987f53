// Natural order of names: embedded numbers compare by value, so img2 comes before img10.
#pragma once

#include <string_view>

namespace cachebisect::stages {

/// A strict weak order. Runs of digits compare by value, everything else by byte; names that are
/// then equal (a1, a01) compare by byte.
bool natural_less(std::string_view a, std::string_view b) noexcept;

}  // namespace cachebisect::stages
