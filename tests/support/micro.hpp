// Seconds of a microsecond.
#pragma once

namespace cachebisect::test {

inline constexpr double kMicro = 1e-6;

}  // namespace cachebisect::test
