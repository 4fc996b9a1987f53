// A thousand ranks on 125 machines, all of them threads of another process: what the engine takes
// for a block, and how long the search for a slow rank takes in the job's own time.
#include <algorithm>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/served_nodes.hpp"
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/private_folder.hpp"
#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

constexpr std::size_t kNodes = 125;
constexpr std::size_t kRanksPerNode = 8;
constexpr std::size_t kSlowRank = 707;

SimulatedChain chain_of_rank(std::size_t rank) {
  SimulatedChain chain;
  const double read = rank == kSlowRank ? 20e-3 : 1e-4;
  chain.stages = {{.name = "read", .category = Category::read, .seconds = read}};
  chain.stages[0].kind = CostKind::wait;
  chain.workers = 2;
  chain.step_seconds = 2e-3;
  return chain;
}

/// The machines, until the engine has let go of them.
[[noreturn]] void serve(const NodeListener& nodes) {
  std::vector<std::unique_ptr<SimulatedReplayer>> owned;
  std::list<ServedNode> served;
  for (std::size_t n = 0; n < kNodes; ++n) {
    std::vector<Replayer*> replayers;
    const std::size_t first = n * kRanksPerNode;
    for (std::size_t rank = first; rank < first + kRanksPerNode; ++rank) {
      SimulatedOptions options{.seed = 1 + rank, .noise = {.white_cv = 0.01}};
      owned.push_back(std::make_unique<SimulatedReplayer>(chain_of_rank(rank), options));
      replayers.push_back(owned.back().get());
    }
    served.emplace_back(nodes, "node-" + std::to_string(n + 1), replayers, static_cast<int>(first),
                        static_cast<int>(kNodes * kRanksPerNode));
  }
  for (ServedNode& node : served) node.join();
  _exit(0);
}

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double most_memory_bytes() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return 1024.0 * static_cast<double>(used.ru_maxrss);
}

}  // namespace

TEST_CASE("one slow rank of a thousand is found") {
  allow_many_connections();  // four for each rank
  const PrivateFolder folder;
  const SocketListener listener(folder.path() + "/socket");
  NodeListener nodes(node_options(kNodes));
  const pid_t job = fork();
  if (job == 0) serve(nodes);
  AwaitResult found = await_adapter(listener, {.nodes = &nodes}, {});
  nodes.close();
  const auto replayer = make_replayer(std::move(found.adapters), {}, nodes.own_name());
  const double cpu = cpu_seconds();
  const double began = monotonic_seconds();
  const Report report = bisect(*replayer, {.budget_seconds = 600, .sustain_seconds = 0});
  const double wall = monotonic_seconds() - began;
  const double engine = cpu_seconds() - cpu;
  replayer->finish(true, 0, "");
  nodes.finish({.exit = true, .told = true});
  waitpid(job, nullptr, 0);
  CAPTURE(report.verdict.text);
  CHECK(report.verdict.ranks == RankRange{kSlowRank, 1});
  CHECK(report.timing.wall_seconds <= 300);
  CHECK(most_memory_bytes() <= 200e6);
  const auto blocks = static_cast<double>(report.blocks.size());
  MESSAGE(blocks << " blocks; for each, " << 1e3 * engine / blocks
                 << " ms of the engine's CPUs and " << 1e3 * wall / blocks
                 << " ms with what simulates the ranks; " << most_memory_bytes() / 1e6
                 << " MB; found after " << report.timing.wall_seconds << " s of the job's time");
}
