// Ranks of tensor and pipeline parallel jobs that have no loader: they take every step with the
// others, and are asked for nothing else.
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "support/served_ranks.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/remote/combine_ranks.hpp"
#include "cachebisect/remote/described_ranks.hpp"
#include "cachebisect/report/words/job_text.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

SimulatedChain chain_that_waits(double seconds) {
  SimulatedChain chain;
  chain.stages = {
      {.name = "read", .category = Category::read, .seconds = 1e-4},
      {.name = "crop", .category = Category::augment, .kind = CostKind::wait, .seconds = seconds}};
  chain.workers = 2;
  chain.step_seconds = 2e-3;
  return chain;
}

/// Four ranks, of which two have no loader.
class HalfOfFour {
 public:
  explicit HalfOfFour(const std::set<int>& without = {0, 3}) {
    for (int rank = 0; rank < 4; ++rank) {
      const SimulatedOptions options{.seed = 1U + static_cast<unsigned>(rank),
                                     .noise = {.white_cv = 0.01}};
      replayers_.push_back(
          std::make_unique<SimulatedReplayer>(chain_that_waits(rank == 2 ? 20e-3 : 1e-4), options));
    }
    std::vector<Replayer*> all;
    for (const auto& one : replayers_) all.push_back(one.get());
    served = std::make_unique<ServedRanks>(all);
    for (const int rank : without) served->adapter(rank).has_loader = false;
  }

 private:
  std::vector<std::unique_ptr<SimulatedReplayer>> replayers_;

 public:
  std::unique_ptr<ServedRanks> served;  // last: it uses the replayers
};

}  // namespace

TEST_CASE("a slow rank is found next to ranks without a loader, and these are counted") {
  const HalfOfFour job;
  const auto replayer = job.served->attach();
  const Report report = bisect(*replayer, {.budget_seconds = 300, .sustain_seconds = 0});
  CAPTURE(report.verdict.text);
  CHECK(report.verdict.stage == "crop");
  CHECK(report.verdict.ranks == RankRange{2, 1});
  CHECK(report.chain.ranks == 4);
  CHECK(report.chain.ranks_without_loader == 2);
  CHECK(has(job_text(report.chain), "4 ranks, 2 of them without a loader, each batch"));
  REQUIRE(report.ranks.size() == 2);  // no arm of their own
  CHECK(report.ranks[0].ranks == RankRange{1, 1});
  CHECK(report.ranks[1].ranks == RankRange{2, 1});
}

TEST_CASE("a rank without a loader runs the same steps as the others, and nothing but steps") {
  const HalfOfFour job;
  std::mutex mutex;
  std::vector<std::vector<nlohmann::json>> runs(4);
  std::set<std::string> asked;
  for (int rank = 0; rank < 4; ++rank) {
    job.served->adapter(rank).on_message = [&, rank](const nlohmann::json& request) {
      const std::scoped_lock lock(mutex);
      if (request.at("type") == "run") runs[static_cast<std::size_t>(rank)].push_back(request);
      if (rank == 3) asked.insert(request.at("type"));
    };
  }
  const auto replayer = job.served->attach();
  static_cast<void>(bisect(*replayer, {.budget_seconds = 300, .sustain_seconds = 0}));
  replayer->finish(true, 0, "");
  // And "machine", where time is real.
  CHECK(asked == std::set<std::string>{"hello", "describe", "begin_round", "run", "finish"});
  REQUIRE_FALSE(runs[3].empty());
  REQUIRE(runs[3].size() == runs[1].size());
  for (std::size_t b = 0; b < runs[3].size(); ++b) {
    for (const char* const key : {"steps", "warmup_steps", "settling_steps", "max_seconds"}) {
      CHECK(runs[3][b].at(key) == runs[1][b].at(key));
    }
    CHECK(runs[3][b].at("group_steps") == 2);  // the workers of the others
    CHECK_FALSE(runs[1][b].contains("group_steps"));
  }
}

TEST_CASE("ranks none of which has a loader are refused, and told") {
  const HalfOfFour job({0, 1, 2, 3});
  const std::string message = usage_error([&] { static_cast<void>(job.served->attach()); });
  CHECK(has(message, "no rank has a loader"));
  CHECK(has(job.served->adapter(1).finish.value("text", ""), "no rank has a loader"));
}

TEST_CASE("a chain is compared with that of the first rank that has one") {
  ChainDescription one;
  one.stages = {{.name = "read"}};
  ChainDescription other = one;
  other.workers = 3;
  const std::string message = usage_error([&] {
    static_cast<void>(combine_chains({{}, one, {}, other}, 8, {4, 4, 4, 4}));
  });
  CHECK(has(message, "rank 3 has other stages"));
  CHECK(has(message, "than rank 1;"));
  const ChainDescription both = combine_chains({{}, one, {}, one}, 8, {4, 4, 4, 4});
  CHECK(both.ranks == 4);
  CHECK(both.ranks_without_loader == 2);
  CHECK(both.usable_cpus == 2);
}

TEST_CASE("the block of a rank without a loader counts for its length alone") {
  BlockResult loading;
  loading.seconds = 1;
  loading.steps = 4;
  loading.samples = 32;
  loading.cpu_seconds = 2;
  loading.group_taus = {0.1, 0.3};
  BlockResult other;
  other.seconds = 3;
  other.steps = 4;
  other.cpu_seconds = 8;
  const BlockResult whole = combine_blocks({other, loading}, {0});
  CHECK(whole.seconds == 3);
  CHECK(whole.samples == 32);
  CHECK(whole.cpu_seconds == 2);
  CHECK(whole.group_taus == std::vector<double>{0.1, 0.3});
  CHECK_FALSE(whole.is_void);
  CHECK_FALSE(whole.slowest_rank.has_value());  // nothing to compare it with
  other.steps = 5;
  CHECK(combine_blocks({other, loading}, {0}).is_void);
}
