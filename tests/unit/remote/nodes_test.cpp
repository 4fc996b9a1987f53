// A job of several machines: which node holds the others up, who may join, and what happens when a
// machine is cut off.
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/errors.hpp"
#include "support/served_nodes.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>

#include "cachebisect/base/machine_watch.hpp"
#include "cachebisect/base/private_folder.hpp"
#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/remote/combine_ranks.hpp"
#include "cachebisect/remote/wait.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

const SimulatedChain kFastRank = chain_that_reads(1e-4);
const SimulatedChain kSlowRank = chain_that_reads(20e-3);

/// A job in virtual time, of machines with as many ranks each.
class NodesJob {
 public:
  NodesJob(const std::vector<SimulatedChain>& chains, std::size_t ranks_per_node) {
    for (std::size_t r = 0; r < chains.size(); ++r) {
      SimulatedOptions options{.seed = 1 + r, .noise = {.white_cv = 0.01}};
      owned_.push_back(std::make_unique<SimulatedReplayer>(chains[r], options));
      if (r % ranks_per_node == 0) by_node_.emplace_back();
      by_node_.back().push_back(owned_.back().get());
    }
  }
  [[nodiscard]] const std::vector<std::vector<Replayer*>>& by_node() const { return by_node_; }

 private:
  std::vector<std::unique_ptr<SimulatedReplayer>> owned_;
  std::vector<std::vector<Replayer*>> by_node_;
};

std::vector<SimulatedChain> chains_with(std::size_t ranks, const std::vector<std::size_t>& slow) {
  std::vector<SimulatedChain> chains(ranks, kFastRank);
  for (const std::size_t rank : slow) chains[rank] = kSlowRank;
  return chains;
}

Report report_on_nodes(const std::vector<SimulatedChain>& chains, std::size_t ranks_per_node) {
  const NodesJob job(chains, ranks_per_node);
  ServedNodes served(job.by_node());
  const auto replayer = served.attach();
  return bisect(*replayer, {.budget_seconds = 300, .sustain_seconds = 0});
}

/// Serves until something arrives for `socket`: a line, or the end.
std::string answer_of(NodeListener& nodes, MessageChannel& socket) {
  for (;;) {
    nodes.serve();
    const bool open = socket.read_available();
    if (auto line = socket.next()) return *line;
    if (!open) return "(closed)";
    std::vector<int> descriptors{socket.descriptor()};
    nodes.add_descriptors(descriptors);
    static_cast<void>(wait_readable(descriptors, std::nullopt));
  }
}

MessageChannel guest_of(const NodeListener& nodes) {
  std::string why;
  return MessageChannel(connect_tcp(nodes.address(), 10, why));
}

std::string answer_to(NodeListener& nodes, const std::string& line) {
  MessageChannel guest = guest_of(nodes);
  guest.send(line, 1);
  return answer_of(nodes, guest);
}

std::string request(const std::string& token, const std::string& node,
                    const std::string& purpose = "node") {
  return nlohmann::json{{"type", "join"}, {"protocol", kNodesVersion},
                        {"token", token}, {"node", node},
                        {"for", purpose}, {"process", 1}}
      .dump();
}

}  // namespace

TEST_CASE("a rank that stalls is named with its node") {
  const Report report = report_on_nodes(chains_with(4, {3}), 2);
  CAPTURE(report.verdict.text);
  CHECK(report.verdict.stage == "read");
  CHECK(report.verdict.ranks == RankRange{3, 1});
  CHECK(has(report.verdict.text, "node node-1, rank 3, read costs"));
  REQUIRE(report.chain.nodes.size() == 2);
  CHECK(report.chain.nodes[0].name == "node-0");
  CHECK(report.chain.nodes[1].ranks == RankRange{2, 2});
}

TEST_CASE("a machine whose storage is slow is named as a whole") {
  const Report report = report_on_nodes(chains_with(6, {2, 3}), 2);
  CAPTURE(report.verdict.text);
  CHECK(report.verdict.ranks == RankRange{2, 2});
  CHECK(has(report.verdict.text, "node node-1, read costs"));
  CHECK(has(report.verdict.text, "The other ranks wait for those of node node-1"));
}

TEST_CASE("the number of ranks is no limit: groups of nodes, a node, a rank") {
  const Report report = report_on_nodes(chains_with(40, {27}), 2);
  CAPTURE(report.verdict.text);
  CHECK(report.verdict.ranks == RankRange{27, 1});
  CHECK(has(report.verdict.text, "node node-13, rank 27"));
  const auto counts = [&](int count) {
    return std::ranges::count_if(report.ranks,
                                 [&](const RankReport& one) { return one.ranks.count == count; });
  };
  CHECK(counts(4) == 10);  // two nodes each
  CHECK(counts(2) == 2);
  CHECK(counts(1) == 2);
}

TEST_CASE("the counters of other machines are read where time is real") {
  const NodesJob job(chains_with(4, {}), 2);
  ServedNodes served(job.by_node(),
                     [](int, FakeAdapter& adapter) { adapter.simulates_time = false; });
  const auto replayer = served.attach();
  const MachineReading relay = read_machine();  // the same process here
  const std::vector<NodeReading> nodes = replayer->read_other_nodes();
  REQUIRE(nodes.size() == 1);
  CHECK(nodes[0].node == "node-1");
  CHECK(nodes[0].counters.seconds >= relay.seconds);
  CHECK(nodes[0].counters.own_cpu_seconds >= relay.own_cpu_seconds + 2 * 1.5);  // of two ranks
  CHECK(nodes[0].counters.times.has_value() == relay.times.has_value());
  replayer->finish(true, 0, "");
  CHECK(replayer->read_other_nodes().empty());
}

TEST_CASE("where time is simulated, no other machine is asked for its counters") {
  const NodesJob job(chains_with(4, {}), 2);
  ServedNodes served(job.by_node());
  const auto replayer = served.attach();
  CHECK(replayer->read_other_nodes().empty());
  replayer->finish(true, 0, "");
}

TEST_CASE("storage that is slow everywhere is no node's") {
  const Report report = report_on_nodes(std::vector<SimulatedChain>(4, kSlowRank), 2);
  CAPTURE(report.verdict.text);
  CHECK(report.verdict.stage == "read");
  CHECK_FALSE(report.verdict.ranks.has_value());
  CHECK(has(report.verdict.text, "No single node explains it"));
}

TEST_CASE("a job whose only process is on another machine is measured") {
  const NodesJob job({kFastRank}, 1);
  ServedNodes served({{}, job.by_node().front()});
  const auto replayer = served.attach();
  CHECK(replayer->prepare({}, {}).samples > 0);
  CHECK(replayer->run({.steps = 2}, {}).steps == 2);
  CHECK(replayer->describe().ranks == 1);
}

TEST_CASE("all machines are told how the run has ended") {
  const NodesJob job(chains_with(4, {}), 2);
  ServedNodes served(job.by_node());
  const auto replayer = served.attach();
  CHECK(replayer->run({.steps = 2}, {}).steps == 2);
  CHECK(replayer->finish(true, 5, "the verdict"));
  served.nodes().finish({.exit = true, .exit_code = 5, .text = "the verdict", .told = true});
  served.other(1).join();
  CHECK(served.other(1).end == RelayEnd::finished);
  CHECK(served.other(1).finish.exit);
  CHECK(served.other(1).finish.exit_code == 5);
  CHECK(served.other(1).finish.told);
}

TEST_CASE("a machine that is cut off ends the run, and is named") {
  const NodesJob job(chains_with(4, {}), 2);
  ServedNodes served(job.by_node());
  const auto replayer = served.attach();
  CHECK(replayer->run({.steps = 2}, {}).steps == 2);
  served.other(1).cut();
  served.other(1).join();
  CHECK(served.other(1).end == RelayEnd::stopped);
  const std::string message =
      error_message([&] { static_cast<void>(replayer->run({.steps = 2}, {})); }, ErrorKind::data);
  CAPTURE(message);
  CHECK(has(message, "node node-1, rank"));
}

TEST_CASE("where the engine is gone, training goes on") {
  auto nodes = std::make_unique<NodeListener>(node_options(1));
  const SimulatedChain chain = kFastRank;
  SimulatedReplayer replayer(chain, {});
  ServedNode node(*nodes, "node-1", {&replayer}, 0, 1);
  while (!nodes->is_complete()) {
    nodes->serve();
    std::vector<int> descriptors;
    nodes->add_descriptors(descriptors);
    static_cast<void>(wait_readable(descriptors, std::nullopt));
  }
  nodes.reset();
  node.join();
  CHECK(node.end == RelayEnd::engine_gone);
}

TEST_CASE("only who has the token joins, under a name of its own") {
  NodeListener nodes(node_options(2));
  CHECK(has(answer_to(nodes, request("wrong", "node-1")), "wrong token"));
  CHECK(has(answer_to(nodes, request(std::string(kToken) + "0", "node-1")), "wrong token"));
  CHECK(has(answer_to(nodes, request(kToken, "node-0")), "part of the job already"));
  CHECK(has(answer_to(nodes, request(kToken, "<script>")), "the name of a node has"));
  CHECK(has(answer_to(nodes, request(kToken, "node-1", "process")), "no node named node-1"));
  CHECK_FALSE(nodes.is_complete());
  MessageChannel first = guest_of(nodes);
  first.send(request(kToken, "node-1"), 1);
  CHECK(has(answer_of(nodes, first), "joined"));
  CHECK(has(answer_to(nodes, request(kToken, "node-1")), "part of the job already"));
  MessageChannel second = guest_of(nodes);
  second.send(request(kToken, "node-2"), 1);
  CHECK(has(answer_of(nodes, second), "joined"));
  CHECK(nodes.is_complete());
  CHECK(has(answer_to(nodes, request(kToken, "node-3")), "all 3 nodes are there already"));
}

TEST_CASE("what is no node is turned away") {
  NodeListener nodes(node_options(1));
  CHECK(has(answer_to(nodes, "GET / HTTP/1.1"), "refused"));
  CHECK(has(answer_to(nodes, "[]"), "refused"));
  CHECK(has(answer_to(nodes, "{\"type\": \"join\"}"), "speaks version 0"));
  MessageChannel endless = guest_of(nodes);
  const std::string half((std::size_t{3} << 18U), 'x');
  const std::jthread writer([&] {
    for (int i = 0; i < 3; ++i) {
      static_cast<void>(::send(endless.descriptor(), half.data(), half.size(), MSG_NOSIGNAL));
    }
  });
  CHECK(answer_of(nodes, endless) == "(closed)");
  {
    MessageChannel silent = guest_of(nodes);
    MessageChannel joining = guest_of(nodes);
    joining.send(request(kToken, "node-1"), 1);
    CHECK(has(answer_of(nodes, joining), "joined"));
  }
  CHECK(has(error_message(
                [&] {
                  for (;;) nodes.serve();
                },
                ErrorKind::data),
            "node node-1: its `cachebisect join` has ended"));
}

TEST_CASE("nodes that do not join in time are missed, and those that did are named") {
  NodeListener nodes(node_options(2, 0.2));
  MessageChannel joining = guest_of(nodes);
  joining.send(request(kToken, "node-1"), 1);
  const std::string message = usage_error([&] {
    for (;;) nodes.serve();
  });
  CAPTURE(message);
  CHECK(has(message, "only 1 of 2 other nodes have joined within 200 ms: node-1"));
  CHECK(has(message, "cachebisect join 127.0.0.1:"));
}

TEST_CASE("a relay says why it cannot join") {
  NodeRelayOptions options{
      .engine = {"127.0.0.1", 1}, .token = kToken, .node = "node-1", .join_seconds = 0.3};
  CHECK(has(usage_error([&] { NodeRelay(options, PrivateFolder(), {}); }),
            "127.0.0.1:1 is not reached within"));
  options.engine.host = "no-such-host.invalid";
  CHECK(
      has(usage_error([&] { NodeRelay(options, PrivateFolder(), {}); }), "no-such-host.invalid:1"));
}

TEST_CASE("an address is a host and a port") {
  CHECK(parse_address("gpu-01:29740").host == "gpu-01");
  CHECK(parse_address("[::1]:80").host == "::1");
  CHECK(to_string(parse_address("[::1]:80")) == "[::1]:80");
  for (const char* const bad : {"", "host", "host:", ":80", "host:0", "host:65536", "host:8x",
                                "::1:80", "host:-1", "host:99999999999"}) {
    CAPTURE(bad);
    CHECK(has(usage_error([&] { static_cast<void>(parse_address(bad)); }), "HOST:PORT"));
  }
  CHECK(is_loopback("127.0.1.1"));
  CHECK(is_loopback("::1"));
  CHECK_FALSE(is_loopback("192.0.2.1"));
  CHECK(is_numeric("192.0.2.1"));
  CHECK(is_numeric("::1"));
  CHECK_FALSE(is_numeric("gpu-01"));
}

TEST_CASE("a port that is taken is named") {
  const FileDescriptor first = listen_tcp({"127.0.0.1", 0});
  const std::string message = usage_error([&] {
    static_cast<void>(listen_tcp({"127.0.0.1", port_of(first)}));
  });
  CHECK(has(message, "the port is taken"));
}

TEST_CASE("tokens are long and differ") {
  CHECK(new_token().size() == 32);
  CHECK(new_token() != new_token());
}

TEST_CASE("a rank has its share of the CPUs of its own machine") {
  ChainDescription large;
  large.stages.resize(1);
  large.usable_cpus = 64;
  ChainDescription small = large;
  small.usable_cpus = 8;
  const ChainDescription whole = combine_chains({large, large, small, small}, 1, {2, 2, 2, 2});
  CHECK(whole.usable_cpus == 4);
  CHECK(whole.ranks == 4);
}
