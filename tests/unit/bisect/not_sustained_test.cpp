// Storage whose burst credits run out while live runs in one piece.
#include <algorithm>
#include <string>

#include "support/burst_storage.hpp"
#include <doctest/doctest.h>

#include "cachebisect/bisect/bisect.hpp"

using namespace cachebisect;

namespace {

constexpr double kSustain = 3;
constexpr double kBatch = 8;

Report report_of(const test::BurstStorageChain& chain) {
  test::BurstStorage storage(chain);
  BisectOptions options;
  options.sustain_seconds = kSustain;
  options.explain = false;
  return bisect(storage, options);
}

bool warns(const Report& report, const std::string& code) {
  return std::any_of(report.warnings.begin(), report.warnings.end(),
                     [&](const Warning& warning) { return warning.code == code; });
}

/// The figure is that of the slow storage, and flat is taken back.
void check_not_sustained(const Report& report, const test::BurstStorageChain& chain) {
  CHECK(report.verdict.kind == VerdictKind::inconclusive);
  CHECK(warns(report, "not_sustained"));
  REQUIRE(report.live_sustained.has_value());
  const double slow = kBatch / chain.slow_read_seconds;
  CHECK(report.live_sustained->samples_per_second.value.value_or(0) ==
        doctest::Approx(slow).epsilon(0.02));
}

}  // namespace

TEST_CASE("storage whose credits outlast the run in one piece seems flat") {
  const Report report = report_of({.credit_seconds = 60});
  CHECK(report.verdict.kind == VerdictKind::flat);
  CHECK_FALSE(warns(report, "not_sustained"));
}

TEST_CASE("the slow pace is measured however late and however far live falls") {
  for (const double slower : {2.5, 4.0, 10.0, 50.0}) {
    for (const double share : {0.0, 0.1, 0.3, 0.5, 0.7, 0.8}) {
      CAPTURE(slower);
      CAPTURE(share);
      const test::BurstStorageChain chain{.slow_read_seconds = slower * 8e-3,
                                          .credit_seconds = 0.4 + share * kSustain};
      check_not_sustained(report_of(chain), chain);
    }
  }
}

TEST_CASE("a run in one piece that slows down to a quarter lasts until it tells") {
  const test::BurstStorageChain chain{.slow_read_seconds = 32e-3, .credit_seconds = 0.3 * kSustain};
  const Report report = report_of(chain);
  check_not_sustained(report, chain);
  CHECK(report.verdict.text.find("does not keep its throughput") != std::string::npos);
  CHECK(report.verdict.text.find("read takes") != std::string::npos);
}
