#include "cachebisect/doctor/doctor.hpp"

#include <cmath>
#include <filesystem>
#include <memory>
#include <numbers>
#include <sstream>
#include <vector>

#include "support/errors.hpp"
#include "support/files.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/quantiles.hpp"
#include "cachebisect/base/random.hpp"
#include "cachebisect/bisect/evidence/part_evidence.hpp"
#include "cachebisect/format/text_layout.hpp"
#include "cachebisect/replay/job/make_device.hpp"

using namespace cachebisect;
using test::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

/// Differences of two equal blocks on a machine with this noise.
std::vector<double> normal_noise(double sigma, std::size_t count, std::uint64_t seed = 1) {
  RandomStream random({.seed = seed, .stage = 1});
  std::vector<double> values(count);
  for (double& value : values) {
    value = sigma * normal_quantile(std::min(1 - 1e-9, 1e-9 + random.uniform()));
  }
  return values;
}

/// Share of fresh runs with such noise that certify a drop within `rounds` rounds.
double share_told(double sigma, double drop, std::size_t rounds) {
  constexpr int kRuns = 200;
  int told = 0;
  for (int run = 0; run < kRuns; ++run) {
    RankSequence evidence(2 / (0.01 * kMainShare));
    const std::vector<double> noise = normal_noise(sigma / std::numbers::sqrt2, 2 * rounds,
                                                   100 + static_cast<std::uint64_t>(run));
    for (std::size_t i = 0; i + 6 <= noise.size(); i += 6) {
      std::vector<double> slow(noise.begin() + static_cast<long>(i),
                               noise.begin() + static_cast<long>(i) + 3);
      const std::vector<double> fast(noise.begin() + static_cast<long>(i) + 3,
                                     noise.begin() + static_cast<long>(i) + 6);
      for (double& value : slow) value += drop_to_theta(drop);
      evidence.add(slow, fast);
    }
    told += evidence.rejects_at_most(0) ? 1 : 0;
  }
  return static_cast<double>(told) / kRuns;
}

std::shared_ptr<Device> emulated_device() {
  PipelineSpec spec;
  spec.device = "emulated";
  return make_device(spec);
}

}  // namespace

TEST_CASE("doctor trusts what the evidence certifies in fresh noise") {
  const TrustOptions options;
  constexpr std::size_t kRounds = 135;  // 60 s of eight blocks of 50 ms, and null blocks
  for (const double sigma : {0.005, 0.02, 0.08}) {
    CAPTURE(sigma);
    const Trust trust = trust_in(normal_noise(sigma, 60), options);
    REQUIRE(trust.smallest_drop.has_value());
    CHECK(share_told(sigma, *trust.smallest_drop, kRounds) > 0.6);
    CHECK(share_told(sigma, *trust.smallest_drop / 3, kRounds) < 0.4);
  }
}

TEST_CASE("more noise gives less trust") {
  double last_drop = 0;
  double last_seconds = 0;
  for (const double sigma : {0.001, 0.01, 0.05, 0.1}) {
    const Trust trust = trust_in(normal_noise(sigma, 60), {});
    REQUIRE(trust.smallest_drop.has_value());
    REQUIRE(trust.seconds_for_a_fifth.has_value());
    CHECK(*trust.smallest_drop >= last_drop);
    CHECK(*trust.seconds_for_a_fifth >= last_seconds);
    last_drop = *trust.smallest_drop;
    last_seconds = *trust.seconds_for_a_fifth;
  }
  CHECK(last_drop > 0.03);
  CHECK_FALSE(trust_in(normal_noise(5, 60), {}).smallest_drop.has_value());
  CHECK_FALSE(trust_in(normal_noise(5, 60), {}).seconds_for_a_fifth.has_value());
}

TEST_CASE("no noise gives no false precision") {
  const Trust trust = trust_in(std::vector<double>(20, 0.0), {});
  CHECK(*trust.smallest_drop == doctest::Approx(0.004));
  // No symmetric test needs fewer than -log2 of the bar: about ten rounds of 0.44 s.
  CHECK(*trust.seconds_for_a_fifth > 3);
  CHECK(*trust.seconds_for_a_fifth < 7);
}

TEST_CASE("too few measurements or too small a budget give no trust") {
  CHECK_FALSE(trust_in({}, {}).smallest_drop.has_value());
  CHECK_FALSE(trust_in(normal_noise(0.01, kMinDifferences - 1), {}).smallest_drop.has_value());
  CHECK_FALSE(trust_in(normal_noise(0.01, 40), {.budget_seconds = 1}).smallest_drop.has_value());
  CHECK_FALSE(trust_in(normal_noise(0.01, 40), {.block_seconds = 0}).smallest_drop.has_value());
  const auto drop_in = [](double budget) {
    return *trust_in(normal_noise(0.03, 40), {.budget_seconds = budget}).smallest_drop;
  };
  CHECK(drop_in(60) <= drop_in(10));
}

TEST_CASE("the page cache probe uses the given folder and leaves nothing there") {
  const TemporaryFolder folder;
  const PageCacheFacts facts = probe_page_cache(folder.path() + "/made/here");
  CHECK(facts.problem.empty());
  if (facts.resident_after_write) {
    CHECK(*facts.resident_after_write >= 0);
    CHECK(*facts.resident_after_write <= 1);
    REQUIRE(facts.resident_after_eviction.has_value());
    CHECK(*facts.resident_after_eviction <= *facts.resident_after_write);
  }
  CHECK(fs::is_empty(folder.path() + "/made/here"));
}

TEST_CASE("a folder that cannot be used is reported without an exception") {
  const TemporaryFolder folder;
  const PageCacheFacts facts = probe_page_cache(folder.write("file", "x"));
  CHECK_FALSE(facts.problem.empty());
  CHECK_FALSE(facts.eviction_works().has_value());
}

TEST_CASE("a diagnosis has every figure on any machine") {
  const TemporaryFolder folder;
  const auto device = emulated_device();
  const Diagnosis d = diagnose(*device, {.seconds = 0.5, .folder = folder.path()}, {});
  CHECK(d.pairs >= 1);
  CHECK(d.trust_options.block_seconds > 0);
  CHECK(std::isfinite(*d.machine.noise.null_drop.value));
  CHECK(*d.machine.noise.block_cv >= 0);
  CHECK(*d.machine.floor.ns_per_sample > 0);
  CHECK(d.memory_gb_per_s > 0);
  CHECK(d.memory_all_gb_per_s > 0);
  CHECK(*d.copy_gb_per_s == doctest::Approx(12));
  CHECK(d.timers.p99_seconds >= d.timers.median_seconds);
  CHECK(d.timers.median_seconds >= 0);
  CHECK(d.page_cache->folder == folder.path());
  std::istringstream lines(to_text(d));
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK((display_width(line) <= 80 || line.find(folder.path()) != std::string::npos));
  }
}

TEST_CASE("a diagnosis stops on request") {
  std::stop_source source;
  source.request_stop();
  const auto device = emulated_device();
  const auto run = [&] {
    static_cast<void>(diagnose(*device, {.seconds = 60}, source.get_token()));
  };
  CHECK(test::error_message(run, ErrorKind::interrupted) != "");
}
