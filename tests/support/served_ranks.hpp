// The ranks of a distributed job as fake adapters, each in a thread of its own.
#pragma once

#include <list>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/connect.hpp"
#include "support/fake_adapter.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/private_folder.hpp"
#include "cachebisect/remote/await_adapter.hpp"
#include "cachebisect/remote/ranks_replayer.hpp"

namespace cachebisect::test {

/// Serves one replayer per rank. They connect in reverse order.
class ServedRanks {
 public:
  /// `faulty`: the rank that misbehaves by `plan`.
  explicit ServedRanks(const std::vector<Replayer*>& replayers, int faulty = -1,
                       const FaultPlan& plan = {})
      : listener_(folder_.path() + "/socket") {
    const int world = static_cast<int>(replayers.size());
    for (int rank = world; rank-- > 0;) {
      FakeAdapter& adapter = adapters_.emplace_front(replayers[static_cast<std::size_t>(rank)],
                                                     connect_to(listener_.path()),
                                                     rank == faulty ? plan : FaultPlan{});
      adapter.rank = rank;
      adapter.world = world;
    }
  }

  /// Runs before attach().
  FakeAdapter& adapter(int rank) { return *std::next(adapters_.begin(), rank); }

  std::unique_ptr<AttachedReplayer> attach(const AdapterLimits& limits = {},
                                           const std::stop_token& stop = {}) {
    for (FakeAdapter& adapter : adapters_) {
      threads_.emplace_back([&adapter] { adapter.serve(); });
    }
    AwaitResult found = await_adapter(listener_, {.limits = limits}, stop);
    REQUIRE(found.adapters.size() == adapters_.size());
    return make_replayer(std::move(found.adapters), stop);
  }

 private:
  PrivateFolder folder_;
  SocketListener listener_;
  std::list<FakeAdapter> adapters_;
  std::vector<std::jthread> threads_;  // last: they use the adapters
};

}  // namespace cachebisect::test
