// The ranks of another node are asked through its relay, in one message: what is said of them is
// what would be said if each were asked alone.
#include "cachebisect/remote/relay_ask.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "support/served_nodes.hpp"
#include "support/served_ranks.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>

#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/remote/ask_ranks.hpp"
#include "cachebisect/remote/wait.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"

using namespace cachebisect;
using namespace cachebisect::test;
using nlohmann::json;

namespace {

constexpr int kRanksOfTwoNodes = 4;

/// Four ranks in virtual time, of which the last is slow.
class FourRanks {
 public:
  FourRanks() {
    for (int rank = 0; rank < kRanksOfTwoNodes; ++rank) {
      const SimulatedOptions options{.seed = 1U + static_cast<unsigned>(rank),
                                     .noise = {.white_cv = 0.01}};
      owned_.push_back(
          std::make_unique<SimulatedReplayer>(chain_that_reads(rank == 3 ? 20e-3 : 1e-4), options));
    }
  }
  [[nodiscard]] std::vector<Replayer*> all() const {
    std::vector<Replayer*> ranks;
    for (const auto& one : owned_) ranks.push_back(one.get());
    return ranks;
  }
  /// On two machines.
  [[nodiscard]] std::vector<std::vector<Replayer*>> by_node() const {
    return {{owned_[0].get(), owned_[1].get()}, {owned_[2].get(), owned_[3].get()}};
  }

 private:
  std::vector<std::unique_ptr<SimulatedReplayer>> owned_;
};

/// The requests that each rank has had.
class Requests {
 public:
  void record(int rank, FakeAdapter& adapter) {
    adapter.on_message = [this, rank](const json& request) {
      const std::scoped_lock lock(mutex_);
      by_rank_[static_cast<std::size_t>(rank)].push_back(request);
    };
  }
  [[nodiscard]] std::vector<json> of(int rank) {
    const std::scoped_lock lock(mutex_);
    return by_rank_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] std::vector<json> of(int rank, const std::string& type) {
    std::vector<json> chosen;
    for (json request : of(rank)) {
      request.erase("id");
      if (request.at("type") == type) chosen.push_back(std::move(request));
    }
    return chosen;
  }

 private:
  std::mutex mutex_;
  std::vector<std::vector<json>> by_rank_{kRanksOfTwoNodes};
};

/// The error of a block in which rank `faulty` of the second node misbehaves.
std::string error_with(int faulty, const FaultPlan& plan, ErrorKind kind) {
  const FourRanks job;
  ServedNodes served(job.by_node(), [&](int rank, FakeAdapter& adapter) {
    if (rank == faulty) adapter.plan = plan;
  });
  const auto replayer = served.attach();
  const auto run = [&] { static_cast<void>(replayer->run({.steps = 2}, {})); };
  std::string message = error_message(run, kind);
  CHECK(error_message(run, kind) == message);
  CHECK(replayer->finish(true, 3, ""));
  return message;
}

std::pair<FileDescriptor, FileDescriptor> connected_pair() {
  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

/// The next line that arrives; "" at the end.
std::string next_line(MessageChannel& channel) {
  for (;;) {
    const bool open = channel.read_available();
    if (auto line = channel.next()) return *std::move(line);
    if (!open) return "";
    static_cast<void>(wait_readable({channel.descriptor()}, std::nullopt));
  }
}

/// One node of three ranks, the first of which has no loader. Its relay is the test itself.
class OneNode {
 public:
  OneNode() {
    auto [engine, other] = connected_pair();
    relay_.emplace(std::move(other));
    const auto node = std::make_shared<NodeConnection>("node-1", std::move(engine));
    std::vector<AskedRank> asked;
    for (std::uint64_t rank = 0; rank < 3; ++rank) {
      auto [own, process] = connected_pair();
      connections_.push_back(
          std::make_unique<AdapterConnection>(std::move(own), AdapterLimits{.answer = 60}));
      processes_.emplace_back(std::move(process));
      asked.push_back({connections_.back().get(), node, 10 + rank, rank != 0});
    }
    ranks_.emplace(std::move(asked), 2);
  }

  /// Asks all, and answers with `answer` in place of the relay.
  std::vector<AskRanks::Answer> ask(const AskRanks::Request& request, const RankRange& freed,
                                    const json& answer) {
    const std::jthread relay([&, this] {
      request_ = json::parse(next_line(*relay_));
      json line = answer;
      line.update({{"id", request_.at("id")}, {"type", "ask"}});
      relay_->send(line.dump(), 60);
    });
    return ranks_->ask(request, freed, {});
  }

  [[nodiscard]] const json& request() const { return request_; }
  [[nodiscard]] const AskRanks& ranks() const { return *ranks_; }
  AdapterConnection& connection(std::size_t rank) { return *connections_[rank]; }
  /// True if nothing was sent to the processes themselves.
  bool processes_are_silent() {
    return std::ranges::none_of(processes_, [](MessageChannel& process) {
      process.read_available();
      return !process.waiting().empty();
    });
  }

 private:
  std::optional<MessageChannel> relay_;
  std::vector<std::unique_ptr<AdapterConnection>> connections_;
  std::vector<MessageChannel> processes_;
  std::optional<AskRanks> ranks_;
  json request_;
};

json request_by_kind(bool freed, bool with_loader) {
  return {{"type", "run"}, {"freed", freed}, {"loader", with_loader}};
}

}  // namespace

TEST_CASE("what is said of a job is the same on one machine and on two") {
  const BisectOptions options{.budget_seconds = 300, .sustain_seconds = 0};
  const FourRanks one;
  ServedRanks together(one.all());
  const Report expected = bisect(*together.attach(), options);
  const FourRanks two;
  ServedNodes apart(two.by_node());
  const Report report = bisect(*apart.attach(), options);
  CHECK(report.verdict.ranks == RankRange{3, 1});
  CHECK(report.verdict.ranks == expected.verdict.ranks);
  // Two machines are two parts, which are tried before ranks.
  for (std::size_t b = 0; b < 20; ++b) {
    CAPTURE(b);
    const BlockResult& block = report.blocks.at(b).result;
    const BlockResult& alike = expected.blocks.at(b).result;
    CHECK(block.seconds == doctest::Approx(alike.seconds));
    CHECK(block.starved_seconds == doctest::Approx(alike.starved_seconds));
    CHECK(block.cpu_seconds == doctest::Approx(alike.cpu_seconds));
    CHECK(block.slowest_rank->rank == alike.slowest_rank->rank);
    CHECK(block.slowest_rank->next_starved_seconds ==
          doctest::Approx(alike.slowest_rank->next_starved_seconds));
  }
}

TEST_CASE("ranks of another node have the requests that those of the engine's have") {
  const FourRanks job;
  Requests requests;
  {
    ServedNodes served(job.by_node(), [&](int rank, FakeAdapter& adapter) {
      requests.record(rank, adapter);
      adapter.has_loader = rank != 2;
    });
    const auto replayer = served.attach();
    static_cast<void>(replayer->prepare({}, {}));
    replayer->begin_round();
    static_cast<void>(replayer->freshen(8, {}));
    static_cast<void>(replayer->run({.arm = {.boundary = 1}, .steps = 2}, {}));
    static_cast<void>(
        replayer->run({.arm = {.boundary = 1, .ranks = {0, 2}}, .steps = 3, .seed = 5}, {}));
    CHECK(replayer->finish(true, 5, "the verdict"));
  }
  for (const char* const type : {"begin_round", "freshen", "finish"}) {
    CAPTURE(type);
    CHECK(requests.of(0, type).size() == 1);
    CHECK(requests.of(3, type) == requests.of(0, type));
  }
  CHECK(requests.of(2, "freshen").empty());
  CHECK(requests.of(2, "finish") == requests.of(0, "finish"));
  const std::vector<json> here = requests.of(1, "run");
  const std::vector<json> there = requests.of(3, "run");
  const std::vector<json> steps = requests.of(2, "run");
  REQUIRE(here.size() == 2);
  REQUIRE(there.size() == 2);
  REQUIRE(steps.size() == 2);
  CHECK(there[0] == here[0]);
  CHECK(here[1].at("arm").at("boundary") == 1);
  CHECK(there[1].at("arm").at("boundary") == 0);
  CHECK(there[1].at("arm").at("ranks") == json::array({0, 2}));
  CHECK(steps[1].at("group_steps") == 2);
  CHECK_FALSE(there[1].contains("group_steps"));
}

TEST_CASE("no request to a process has the id of another, whichever way it came") {
  const FourRanks job;
  Requests requests;
  {
    ServedNodes served(job.by_node(),
                       [&](int rank, FakeAdapter& adapter) { requests.record(rank, adapter); });
    const auto replayer = served.attach();
    static_cast<void>(replayer->prepare({}, {}));
    for (int round = 0; round < 3; ++round) {
      replayer->begin_round();
      static_cast<void>(replayer->run({.steps = 2}, {}));
      static_cast<void>(replayer->refill(0, {}));
    }
    replayer->finish(true, 0, "");
  }
  std::uint64_t last = 0;
  for (const json& request : requests.of(3)) {
    CAPTURE(request);
    CHECK(request.at("id") > last);
    last = request.at("id");
  }
}

TEST_CASE("a rank of another node that misbehaves is named, as if it were alone") {
  struct Case {
    Fault fault;
    std::string message;
    ErrorKind kind = ErrorKind::internal;
  };
  const std::vector<Case> cases{
      {Fault::closed, "the training process ended the connection before it answered 'run'",
       ErrorKind::data},
      {Fault::truncated, "before it answered 'run', inside a message", ErrorKind::data},
      {Fault::error, "stage 'crop', sample 42: ValueError: bad crop", ErrorKind::data},
      {Fault::too_long, "a message from the adapter is longer than"},
      {Fault::not_json, "a message while 'run' is open is not JSON"},
      {Fault::wrong_type, "field 'type' must be 'run'"},
      {Fault::wrong_field, "the answer to 'run', 'block': field 'seconds'"},
      {Fault::missing_field, "the answer to 'run': field 'block' must be there"},
      {Fault::future_id, "field 'id' must be that of a request"}};
  for (const Case& broken : cases) {
    CAPTURE(broken.message);
    const std::string message = error_with(3, {.fault = broken.fault}, broken.kind);
    CHECK_MESSAGE(has(message, "node node-1, rank 3: "), message);
    CHECK_MESSAGE(has(message, broken.message), message);
  }
  for (const Fault fault : {Fault::busy_first, Fault::stale_first, Fault::unknown_field}) {
    CAPTURE(static_cast<int>(fault));
    const FourRanks job;
    ServedNodes served(job.by_node(), [&](int rank, FakeAdapter& adapter) {
      if (rank == 2) adapter.plan = {.fault = fault};
    });
    CHECK(served.attach()->run({.steps = 2}, {}).steps == 2);
  }
}

TEST_CASE("the traceback of a rank of another node is in the report") {
  const FourRanks job;
  ServedNodes served(job.by_node(), [&](int rank, FakeAdapter& adapter) {
    if (rank == 2) adapter.plan = {.fault = Fault::error};
  });
  const auto replayer = served.attach();
  try {
    static_cast<void>(replayer->run({.steps = 2}, {}));
    FAIL("no error");
  } catch (const Error& error) {
    REQUIRE(error.details().size() == 2);
    CHECK(has(error.details()[0], "crop.py"));
  }
}

TEST_CASE("a rank of another node that is silent is named, and its end is not waited for") {
  for (const bool is_stuck : {false, true}) {
    CAPTURE(is_stuck);
    const FourRanks job;
    ServedNodes served(job.by_node(), [&](int rank, FakeAdapter& adapter) {
      if (rank != 2) return;
      adapter.plan = {.fault = Fault::silent};
      if (is_stuck) adapter.missed_stops = 1000;
    });
    const auto replayer = served.attach({}, 2);
    CHECK(has(
        error_message([&] { static_cast<void>(replayer->run({.steps = 2}, {})); }, ErrorKind::data),
        "node node-1, rank 2: the training process has not answered 'run' for 2"));
    const bool told = replayer->finish(true, 3, "");
    if (is_stuck) CHECK_FALSE(told);
  }
}

TEST_CASE("a stop, and an error of one rank, reach the ranks of all nodes") {
  for (const bool stopped_by_user : {true, false}) {
    CAPTURE(stopped_by_user);
    const FourRanks job;
    Requests requests;
    std::stop_source stop;
    std::atomic<int> running = 0;
    {
      ServedNodes served(job.by_node(), [&](int rank, FakeAdapter& adapter) {
        requests.record(rank, adapter);
        const bool fails = rank == 2 && !stopped_by_user;
        adapter.plan = {.fault = fails ? Fault::error : Fault::silent};
        adapter.on_request = [&](const std::string& type) {
          if (type != "run" || !stopped_by_user) return;
          if (++running == kRanksOfTwoNodes) stop.request_stop();
        };
      });
      const auto replayer = served.attach();
      const std::string message =
          error_message([&] { static_cast<void>(replayer->run({.steps = 2}, stop.get_token())); },
                        stopped_by_user ? ErrorKind::interrupted : ErrorKind::data);
      CHECK(has(message, stopped_by_user ? "stopped" : "node node-1, rank 2: stage 'crop'"));
      replayer->finish(true, 3, "");
    }
    for (int rank = 0; rank < kRanksOfTwoNodes; ++rank) {
      CAPTURE(rank);
      CHECK(requests.of(rank, "stop").empty() == (rank == 2 && !stopped_by_user));
    }
  }
}

TEST_CASE("a node gets one message for all its ranks, and they get none") {
  OneNode node;
  node.connection(1).skip_ids(12);
  const auto answers = node.ask(request_by_kind, {2, 1}, json::object());
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].ranks == std::vector<std::size_t>{0, 1, 2});
  CHECK_FALSE(answers[0].error);
  CHECK(node.processes_are_silent());
  CHECK(node.request().at("type") == "ask");
  CHECK(node.request().at("last_id") == 12);
  CHECK(node.request().at("answer_seconds") == 60);
  CHECK(node.request().at("stages") == 2);
  std::vector<json> groups = node.request().at("groups");
  REQUIRE(groups.size() == 3);
  for (const json& group : groups) {
    CHECK(group.at("request") ==
          request_by_kind(group.at("processes") == json::array({12}), group.at("loader")));
    CHECK(group.at("loader") == (group.at("processes") != json::array({10})));
  }
  CHECK(node.connection(0).last_id() == 13);
}

TEST_CASE("ranks that are not asked are not in the message") {
  OneNode node;
  const auto answers = node.ask(
      [](bool, bool with_loader) {
        return with_loader ? json{{"type", "freshen"}, {"samples", 8}} : json();
      },
      {}, {{"freshened", true}});
  CHECK(answers.size() == 1);
  REQUIRE(node.request().at("groups").size() == 1);
  CHECK(node.request().at("groups")[0].at("processes") == json::array({11, 12}));
}

TEST_CASE("what a relay answers is read, or refused") {
  OneNode node;
  BlockPart sent{.block = {}, .loaders = 2, .slowest = 12};
  sent.block.seconds = 2;
  const json block = to_json(sent);
  const auto answers = node.ask(request_by_kind, {}, block);
  const BlockPart part = node.ranks().block_of(answers.at(0));
  CHECK(part.slowest == 2);
  CHECK(part.block.seconds == 2);
  json stranger = block;
  stranger["slowest"] = 7;
  const auto strange = node.ask(request_by_kind, {}, stranger);
  CHECK(has(error_message([&] { static_cast<void>(node.ranks().block_of(strange.at(0))); },
                          ErrorKind::internal),
            "field 'slowest' must be a process of the node"));
  const json failed{{"process", 11}, {"kind", "device"}, {"text", "no memory"}};
  const auto failure = node.ask(request_by_kind, {}, {{"failed", failed}});
  CHECK(failure.at(0).ranks == std::vector<std::size_t>{1});
  CHECK(has(error_message([&] { std::rethrow_exception(failure.at(0).error); }, ErrorKind::device),
            "no memory"));
  const auto nonsense = node.ask(request_by_kind, {}, {{"failed", 5}});
  CHECK(
      has(error_message([&] { std::rethrow_exception(nonsense.at(0).error); }, ErrorKind::internal),
          "field 'failed' must be an object"));
}

TEST_CASE("a relay says which process is not there any more") {
  RelayAsk relay;
  RelayedProcesses none;
  NodeAsk ask{.answer_seconds = 60, .stages = 2};
  ask.groups = {{.processes = {3}}};
  ask.requests.push_back({{"type", "run"}});
  relay.begin(5, ask, none);
  std::vector<std::string> messages;
  while (relay.is_open()) {
    static_cast<void>(wait_readable({relay.descriptor()}, std::nullopt));
    for (std::string& message : relay.take()) messages.push_back(std::move(message));
  }
  REQUIRE(messages.size() == 1);
  const json answer = json::parse(messages[0]);
  CHECK(answer.at("id") == 5);
  CHECK(answer.at("failed").at("process") == 3);
  CHECK(has(answer.at("failed").at("text").get<std::string>(), "ended the connection"));
}

TEST_CASE("a relay of another version is refused, and refuses one") {
  NodeListener nodes(node_options(1));
  std::string why;
  MessageChannel old(connect_tcp(nodes.address(), 10, why));
  old.send(
      json{
          {"type", "join"}, {"protocol", 1}, {"token", kToken}, {"node", "node-1"}, {"for", "node"}}
          .dump(),
      1);
  while (wait_readable({old.descriptor()}, 0).empty()) nodes.serve();
  const std::string answer = next_line(old);
  CHECK(has(answer, "refused"));
  CHECK(has(answer, "it speaks version 1 of the protocol between nodes"));
  CHECK(has(answer, "version 2; install the same release on all nodes"));
  CHECK(has(usage_error([] {
              static_cast<void>(read_join_answer(R"({"type": "joined", "protocol": 1})"));
            }),
            "it speaks version 1 of the protocol between nodes"));
}
