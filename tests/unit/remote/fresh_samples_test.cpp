// How many samples an adapter is asked to put into its caches between super-rounds.
#include <cstdint>
#include <mutex>
#include <vector>

#include "support/attached.hpp"
#include "support/served_ranks.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/simulate/simulated_replayer.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

constexpr std::uint64_t kDataSet = 10'000;
constexpr double kItemBytes = 1000;
constexpr double kHostBoundaries = 2;  ///< after reading and after collation

SimulatedReplayer replayer_of(std::uint64_t data_set) {
  SimulatedChain chain;
  chain.stages = {{.name = "read", .category = Category::read, .seconds = 1e-4}};
  chain.source_bytes = kItemBytes;
  chain.batch_size = 8;
  chain.samples = data_set;
  return SimulatedReplayer(chain, {});
}

/// The `samples` of all requests to freshen, in order.
class Asked {
 public:
  void watch(FakeAdapter& adapter) {
    adapter.on_message = [this](const nlohmann::json& request) {
      if (request.at("type") != "freshen") return;
      const std::scoped_lock lock(mutex_);
      samples_.push_back(request.at("samples"));
    };
  }
  std::vector<std::uint64_t> samples() {
    const std::scoped_lock lock(mutex_);
    return samples_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::uint64_t> samples_;
};

}  // namespace

TEST_CASE("an adapter is asked for as many fresh samples as a super-round takes") {
  SimulatedReplayer replayer = replayer_of(kDataSet);
  Asked asked;
  ServedReplayer served(replayer, {}, [&](FakeAdapter& adapter) { asked.watch(adapter); });
  const auto remote = served.attach();
  static_cast<void>(remote->prepare({}, {}));
  static_cast<void>(remote->freshen(800, {}));
  static_cast<void>(remote->freshen(801, {}));
  static_cast<void>(remote->freshen(2 * kDataSet, {}));
  CHECK(asked.samples() == std::vector<std::uint64_t>{800, 808, kDataSet});
}

TEST_CASE("fresh samples fit into the caches' budget") {
  SimulatedReplayer replayer = replayer_of(kDataSet);
  Asked asked;
  ServedReplayer served(replayer, {}, [&](FakeAdapter& adapter) { asked.watch(adapter); });
  const auto remote = served.attach();
  static_cast<void>(remote->prepare({.host_bytes = 404 * kHostBoundaries * kItemBytes}, {}));
  static_cast<void>(remote->freshen(800, {}));
  CHECK(asked.samples() == std::vector<std::uint64_t>{400});
}

TEST_CASE("all ranks are asked for what the smallest cache holds") {
  SimulatedReplayer large = replayer_of(kDataSet);
  SimulatedReplayer small = replayer_of(240);
  Asked asked;
  ServedRanks served({&large, &small});
  asked.watch(served.adapter(0));
  asked.watch(served.adapter(1));
  const auto ranks = served.attach();
  static_cast<void>(ranks->prepare({}, {}));
  static_cast<void>(ranks->freshen(800, {}));
  CHECK(asked.samples() == std::vector<std::uint64_t>{240, 240});
}
