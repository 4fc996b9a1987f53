// Natural order of names: numbers inside them compare by value, so that img2 comes before img10.
#pragma once

#include <string_view>

namespace cachebisect::stages {

/// A strict weak order. Digits compare by value, all else by byte; names that are equal so
/// (a1, a01) compare by byte as a whole.
bool natural_less(std::string_view a, std::string_view b) noexcept;

}  // namespace cachebisect::stages
