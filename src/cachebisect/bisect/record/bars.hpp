// What counts as negligible, most and nearly all where several rules and warnings ask the same.
#pragma once

namespace cachebisect {

/// A share of time or throughput by which figures of the same thing differ from run to run.
inline constexpr double kNegligible = 0.02;
/// A difference that is certainly larger is no longer small: the default of min_drop.
inline constexpr double kReportAbove = 0.05;
/// As close as figures need to be known that should be nothing, or that are compared for a gain.
inline constexpr double kFine = 0.005;
/// What is known to this share is known: no interval is made narrower after the verdict, and no
/// prediction claims to be (probes, timers, the form of the law).
inline constexpr double kKnownTo = 0.01;
inline constexpr double kMostOf = 0.5;
inline constexpr double kNearlyAll = 0.9;
/// A part is worth opening if it costs more than this share of what the largest does, or min_drop:
/// one of its stages may cost the most.
inline constexpr double kOpenAbove = 0.6;
/// Share of the usable CPUs' time above which threads wait for each other.
inline constexpr double kCrowded = 0.75;
/// Share of the budget, or of what is left of it, that pilots and larger caches may take.
inline constexpr double kShareToPrepare = 0.25;
/// A cost model, or an expected throughput, that misses live by a larger share is that of another
/// job.
inline constexpr double kOtherJob = 0.10;
/// A training thread that computes for a smaller share of the time needs no core of its own.
inline constexpr double kBusyTrainer = 0.1;
/// Standard deviations, or errors, beyond which a difference is certainly not noise.
inline constexpr double kCertain = 4;
/// Bytes per second that one thread moves in memory, measured: at least, and as a rule.
inline constexpr double kLeastMemorySpeed = 2e9;
inline constexpr double kMemorySpeed = 4e9;
/// What each further measurement after the verdict may take: the size of the caches, what the
/// training step does, what reading asks of storage. Seconds.
inline constexpr double kExtraSeconds = 2;
/// After so many tries, what is measured again because it did not show what it should is taken as
/// it is.
inline constexpr int kMaxTries = 4;
/// Rounds that show how blocks spread.
inline constexpr int kRoundsToSpread = 10;

}  // namespace cachebisect
