// The model of storage in virtual time: latency, bandwidth that requests share, bursts and
// refusals.
#include "cachebisect/storage/storage_model.hpp"

#include <algorithm>
#include <vector>

#include "support/errors.hpp"
#include "support/storage_settings.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/statistics.hpp"

using namespace cachebisect;

namespace {

/// 1 MB/s, and no latency.
StorageSettings narrow() {
  StorageSettings settings = test::unlimited_storage();
  settings.bytes_per_second = 1e6;
  return settings;
}

constexpr double kClose = 1e-9;

}  // namespace

TEST_CASE("latencies have the median and the tail that were asked for") {
  StorageSettings settings = test::unlimited_storage();
  settings.median_seconds = 0.02;
  settings.p99_seconds = 0.1;
  StorageModel model(settings);
  std::vector<double> latencies;
  for (int i = 0; i < 20'000; ++i) {
    const double now = 0.001 * i;
    latencies.push_back(model.admit(now, 0)->first_byte - now);
  }
  CHECK(median(latencies) == doctest::Approx(0.02).epsilon(0.03));
  CHECK(quantile(latencies, 0.99) == doctest::Approx(0.1).epsilon(0.06));
  CHECK(*std::ranges::min_element(latencies) > 0);
}

TEST_CASE("the same seed gives the same latencies, another one gives others") {
  StorageSettings settings;
  StorageModel one(settings);
  StorageModel same(settings);
  settings.seed = 2;
  StorageModel other(settings);
  int different = 0;
  for (int i = 0; i < 100; ++i) {
    const double first = one.admit(i, 1000)->first_byte;
    CHECK(same.admit(i, 1000)->first_byte == first);
    if (other.admit(i, 1000)->first_byte != first) ++different;
  }
  CHECK(different > 90);
}

TEST_CASE("a constant latency is the same for all, and none is none") {
  StorageSettings settings = test::unlimited_storage();
  settings.median_seconds = settings.p99_seconds = 0.03;
  StorageModel model(settings);
  for (int i = 0; i < 10; ++i) {
    CHECK(model.admit(i, 0)->first_byte == doctest::Approx(i + 0.03));
  }
  CHECK(StorageModel(test::unlimited_storage()).admit(5, 1'000'000)->last_byte == 5);
}

TEST_CASE("requests share the bandwidth: n at once take as long as their bytes together") {
  StorageModel model(narrow());
  double last = 0;
  for (int i = 0; i < 8; ++i) last = std::max(last, model.admit(10, 100'000)->last_byte);
  CHECK(last == doctest::Approx(10.8));
  // Alone again, a request has all of it.
  CHECK(model.admit(20, 100'000)->last_byte == doctest::Approx(20.1));
}

TEST_CASE("answers that are sent in pieces get even shares") {
  StorageModel model(narrow());
  double small = 0;
  double large = 0;
  for (int i = 0; i < 10; ++i) {
    small = model.transfer(small, 10'000);
    large = model.transfer(large, 10'000);
  }
  for (int i = 0; i < 90; ++i) large = model.transfer(large, 10'000);
  CHECK(small == doctest::Approx(0.19));
  CHECK(large == doctest::Approx(1.1));
}

TEST_CASE("the link is not idle while bytes are ready, and never promised twice") {
  StorageModel model(narrow());
  // Ready late, asked for first: what is ready before passes before.
  CHECK(model.transfer(1.0, 500'000) == doctest::Approx(1.5));
  CHECK(model.transfer(0.0, 200'000) == doctest::Approx(0.2));
  // 0.8 s fit before, the rest comes behind.
  CHECK(model.transfer(0.1, 1'000'000) == doctest::Approx(1.7));
  CHECK(model.transfer(0.0, 100'000) == doctest::Approx(1.8));
}

TEST_CASE("more bytes end later, and nothing ends before it begins") {
  StorageSettings settings;
  settings.requests_per_second = 0;
  double previous = 0;
  for (const std::uint64_t bytes : {0ULL, 1ULL, 1000ULL, 1'000'000ULL, 50'000'000ULL}) {
    StorageModel model(settings);
    const StorageAnswer answer = *model.admit(1, bytes);
    CHECK(answer.first_byte > 1);
    CHECK(answer.last_byte >= answer.first_byte);
    CHECK(answer.last_byte >= previous);
    previous = answer.last_byte;
  }
}

TEST_CASE("a burst is answered, then requests are refused until the rate allows them") {
  StorageSettings settings = test::unlimited_storage();
  settings.requests_per_second = 10;
  settings.burst = 5;
  StorageModel model(settings);
  const auto answered = [&](double now, int requests) {
    int count = 0;
    for (int i = 0; i < requests; ++i) count += model.admit(now, 0) ? 1 : 0;
    return count;
  };
  CHECK(answered(100, 20) == 5);
  CHECK(model.seconds_until_admitted(100) == doctest::Approx(0.1));
  CHECK(model.seconds_until_admitted(100.05) == doctest::Approx(0.05));
  CHECK(answered(100.05, 20) == 0);
  CHECK(answered(100.1 + kClose, 20) == 1);
  CHECK(answered(100.4 + kClose, 20) == 3);
  // A pause of any length gives one burst.
  CHECK(model.seconds_until_admitted(1000) == 0);
  CHECK(answered(1000, 20) == 5);
}

TEST_CASE("at the rate that is allowed nothing is refused, at twice the rate every second one is") {
  StorageSettings settings = test::unlimited_storage();
  settings.requests_per_second = 100;
  settings.burst = 1;
  StorageModel steady(settings);
  StorageModel fast(settings);
  int refused = 0;
  for (int i = 0; i < 1000; ++i) {
    CHECK(steady.admit(0.01 * i, 0).has_value());
    if (!fast.admit(0.005 * i, 0)) ++refused;
  }
  CHECK(refused == 500);
}

TEST_CASE("a refused request takes no latency of the others") {
  StorageSettings settings;
  StorageModel calm(settings);
  settings.requests_per_second = 10;
  settings.burst = 1;
  StorageModel refusing(settings);
  for (int i = 0; i < 20; ++i) {
    const double first = calm.admit(i, 0)->first_byte;
    CHECK(refusing.admit(i, 0)->first_byte == first);
    CHECK_FALSE(refusing.admit(i, 0).has_value());
  }
}

TEST_CASE("what is no server is refused with its name") {
  const auto refused = [](auto change, const char* name) {
    StorageSettings settings;
    change(settings);
    return test::usage_error([&] { check(settings); }).find(name) != std::string::npos;
  };
  CHECK(refused([](auto& s) { s.median_seconds = -1; }, "latency"));
  CHECK(refused([](auto& s) { s.median_seconds = 1e9; }, "latency"));
  CHECK(refused([](auto& s) { s.p99_seconds = 0.001; }, "99th percentile"));
  CHECK(refused([](auto& s) { s.median_seconds = 0; }, "99th percentile"));
  CHECK(refused([](auto& s) { s.bytes_per_second = -1; }, "bandwidth"));
  CHECK(refused([](auto& s) { s.requests_per_second = 1.0 / 0.0; }, "requests per second"));
  CHECK(refused([](auto& s) { s.burst = 0.5; }, "burst"));
}
