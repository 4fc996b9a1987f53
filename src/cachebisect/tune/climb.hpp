// The search of tune(): greedy, with a diagnosis after each change that was kept.
#pragma once

#include "cachebisect/base/export.hpp"
#include "cachebisect/tune/subject.hpp"
#include "cachebisect/tune/tune.hpp"

namespace cachebisect::tune {

/// Share of throughput; less is not worth a change.
inline constexpr double kLeastGain = 0.01;

/// See tune(). Throws what the first diagnosis throws; later errors of the subject end it with what
/// was reached.
[[nodiscard]] CACHEBISECT_INTERNAL_API Result climb(Subject& subject, const Options& options);

}  // namespace cachebisect::tune
