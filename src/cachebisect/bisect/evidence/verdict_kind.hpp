// The kinds of verdict.
#pragma once

#include "cachebisect/base/export.hpp"

namespace cachebisect {

enum class VerdictKind { anomaly, drop, spread, flat, inconclusive };
CACHEBISECT_API const char* to_string(VerdictKind kind) noexcept;

}  // namespace cachebisect
