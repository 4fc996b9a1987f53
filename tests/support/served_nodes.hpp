// A job of several machines on one: each node but the first has a relay and processes of its own.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/connect.hpp"
#include "support/fake_adapter.hpp"
#include <sys/eventfd.h>

#include "cachebisect/base/private_folder.hpp"
#include "cachebisect/remote/await_adapter.hpp"
#include "cachebisect/remote/node_relay.hpp"
#include "cachebisect/simulate/simulated_chain.hpp"

namespace cachebisect::test {

inline constexpr const char* kToken = "0123456789abcdef";

inline NodeListenerOptions node_options(std::size_t others, double join_seconds = 60) {
  return {.address = {"127.0.0.1", 0},
          .token = kToken,
          .own_name = "node-0",
          .others = others,
          .join_seconds = join_seconds,
          .answer = {}};
}

inline NodeRelayOptions relay_options(const NodeListener& nodes, const std::string& name) {
  return {.engine = nodes.address(), .token = kToken, .node = name, .join_seconds = 60};
}

/// A rank whose loader waits for so long per sample, in virtual time.
inline SimulatedChain chain_that_reads(double read_seconds) {
  SimulatedChain chain;
  chain.stages = {{.name = "read", .category = Category::read, .seconds = read_seconds},
                  {.name = "crop", .category = Category::augment, .seconds = 1e-4}};
  chain.stages[0].kind = CostKind::wait;
  chain.workers = 2;
  chain.step_seconds = 2e-3;
  return chain;
}

/// Changes the adapter of a rank before it answers anything.
using SetUpAdapter = std::function<void(int rank, FakeAdapter&)>;

/// One machine: its ranks connect to its relay.
class ServedNode {
 public:
  ServedNode(const NodeListener& nodes, const std::string& name,
             const std::vector<Replayer*>& replayers, int first_rank, int world,
             const SetUpAdapter& set_up = {}, std::shared_ptr<const Tls> tls = nullptr) {
    NodeRelayOptions joining = relay_options(nodes, name);
    joining.tls = std::move(tls);
    thread_ = std::jthread([this, options = std::move(joining), replayers, first_rank, world,
                            set_up](const std::stop_token& stop) {
      NodeRelay relay(options, folder_, stop);
      int rank = first_rank;
      for (Replayer* replayer : replayers) {
        FakeAdapter& adapter = adapters_.emplace_back(replayer, connect_to(relay.socket_path()));
        adapter.rank = rank++;
        adapter.world = world;
        if (set_up) set_up(adapter.rank, adapter);
        threads_.emplace_back([&adapter] { adapter.serve(); });
      }
      end = relay.run(never_.get(), stop);
      finish = relay.finish();
    });
  }

  /// As if the machine were cut off.
  void cut() { thread_.request_stop(); }
  void join() {
    if (thread_.joinable()) thread_.join();
  }

  // After join():
  std::optional<RelayEnd> end;
  RunEnd finish;

 private:
  PrivateFolder folder_;
  FileDescriptor never_{::eventfd(0, EFD_CLOEXEC)};  ///< of a command that does not end
  std::list<FakeAdapter> adapters_;
  std::vector<std::jthread> threads_;
  std::jthread thread_;  // last: it uses the others
};

/// Ranks by node; those of the first are on the engine's machine.
class ServedNodes {
 public:
  explicit ServedNodes(const std::vector<std::vector<Replayer*>>& by_node,
                       const SetUpAdapter& set_up = {})
      : listener_(folder_.path() + "/socket"), nodes_(node_options(by_node.size() - 1)) {
    int world = 0;
    for (const auto& node : by_node) world += static_cast<int>(node.size());
    int rank = 0;
    for (Replayer* replayer : by_node.front()) {
      FakeAdapter& adapter = adapters_.emplace_back(replayer, connect_to(listener_.path()));
      adapter.rank = rank++;
      adapter.world = world;
      if (set_up) set_up(adapter.rank, adapter);
      threads_.emplace_back([&adapter] { adapter.serve(); });
    }
    for (std::size_t n = 1; n < by_node.size(); ++n) {
      others_.emplace_back(nodes_, "node-" + std::to_string(n), by_node[n], rank, world, set_up);
      rank += static_cast<int>(by_node[n].size());
    }
  }

  /// `answer_seconds`: limit on the silence of a rank from then on.
  std::unique_ptr<AttachedReplayer> attach(const std::stop_token& stop = {},
                                           double answer_seconds = 300) {
    AwaitResult found = await_adapter(listener_, {.nodes = &nodes_}, stop);
    nodes_.close();
    for (const AttachedAdapter& adapter : found.adapters) {
      adapter.connection->set_answer_limit(answer_seconds);
    }
    return make_replayer(std::move(found.adapters), stop, nodes_.own_name());
  }

  NodeListener& nodes() { return nodes_; }
  ServedNode& other(std::size_t n) { return *std::next(others_.begin(), static_cast<int>(n) - 1); }

 private:
  PrivateFolder folder_;
  SocketListener listener_;
  NodeListener nodes_;
  std::list<FakeAdapter> adapters_;
  std::vector<std::jthread> threads_;
  std::list<ServedNode> others_;
};

}  // namespace cachebisect::test
