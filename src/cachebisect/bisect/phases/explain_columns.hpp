// The first columns of the tables of rounds that explain a verdict.
#pragma once

namespace cachebisect {

inline constexpr int kLive = 0;
inline constexpr int kCeiling = 1;

}  // namespace cachebisect
