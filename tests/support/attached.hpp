// An engine and a fake adapter that are connected, each in a thread of its own.
#pragma once

#include <memory>
#include <stop_token>
#include <thread>
#include <utility>

#include "support/connect.hpp"
#include "support/fake_adapter.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/private_folder.hpp"
#include "cachebisect/remote/await_adapter.hpp"
#include "cachebisect/remote/remote_replayer.hpp"

namespace cachebisect::test {

/// The adapter's side: serves `replayer` over a socket until the engine finishes or goes away.
class ServedReplayer {
 public:
  /// `set_up` changes the adapter before it connects.
  template <class SetUp>
  ServedReplayer(Replayer& replayer, const FaultPlan& plan, const SetUp& set_up)
      : folder_(),
        listener_(folder_.path() + "/socket"),
        adapter_(&replayer, connect_to(listener_.path()), plan) {
    set_up(adapter_);
    thread_ = std::jthread([this] { adapter_.serve(); });
  }
  explicit ServedReplayer(Replayer& replayer, const FaultPlan& plan = {})
      : ServedReplayer(replayer, plan, [](FakeAdapter&) {}) {}

  /// The engine's side. Throws what await_adapter() and RemoteReplayer throw.
  std::unique_ptr<RemoteReplayer> attach(const AdapterLimits& limits = {},
                                         const std::stop_token& stop = {},
                                         const BusyCallback& on_busy = {}) {
    AwaitResult found = await_adapter(listener_, {.limits = limits, .on_busy = on_busy}, stop);
    REQUIRE(found.adapters.size() == 1);
    return std::make_unique<RemoteReplayer>(std::move(found.adapters.front()), stop);
  }

  /// After the engine's side is gone: what the adapter has seen.
  const FakeAdapter& ended() {
    thread_.join();
    return adapter_;
  }

 private:
  PrivateFolder folder_;
  SocketListener listener_;
  FakeAdapter adapter_;
  std::jthread thread_;  // last: it uses the adapter
};

}  // namespace cachebisect::test
