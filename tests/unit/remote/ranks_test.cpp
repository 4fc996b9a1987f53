// Several ranks as one job: which of them holds the others up, and what happens when one fails.
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "support/served_ranks.hpp"
#include "support/text.hpp"
#include "support/torch_settings.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/remote/combine_ranks.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

constexpr int kRanks = 4;

SimulatedChain fast_chain() {
  SimulatedChain chain;
  chain.stages = {{.name = "read", .category = Category::read, .seconds = 1e-4},
                  {.name = "crop", .category = Category::augment, .seconds = 1e-4}};
  chain.workers = 2;
  chain.step_seconds = 2e-3;
  return chain;
}

SimulatedChain stalling_chain() {
  SimulatedChain chain = fast_chain();
  chain.stages[1].kind = CostKind::wait;
  chain.stages[1].seconds = 20e-3;
  return chain;
}

SimulatedChain slow_step_chain() {
  SimulatedChain chain = fast_chain();
  chain.step_seconds = 200e-3;
  return chain;
}

/// A job in virtual time. The engine waits for the slowest rank, as an all-reduce does.
class Job {
 public:
  explicit Job(const std::vector<SimulatedChain>& chains) {
    for (const SimulatedChain& chain : chains) {
      SimulatedOptions options{.seed = 1 + owned_.size(), .noise = {.white_cv = 0.01}};
      owned_.push_back(std::make_unique<SimulatedReplayer>(chain, options));
    }
  }
  [[nodiscard]] std::vector<Replayer*> ranks() const {
    std::vector<Replayer*> all;
    for (const auto& one : owned_) all.push_back(one.get());
    return all;
  }

 private:
  std::vector<std::unique_ptr<SimulatedReplayer>> owned_;
};

std::vector<SimulatedChain> ranks_with(const SimulatedChain& odd, int rank) {
  std::vector<SimulatedChain> chains(kRanks, fast_chain());
  chains[static_cast<std::size_t>(rank)] = odd;
  return chains;
}

Report report_of(const std::vector<SimulatedChain>& chains) {
  const Job job(chains);
  ServedRanks served(job.ranks());
  const auto replayer = served.attach();
  return bisect(*replayer, {.budget_seconds = 300, .sustain_seconds = 0});
}

}  // namespace

TEST_CASE("a stall in one rank's loader is named with its rank") {
  for (const int rank : {0, 2, 3}) {
    CAPTURE(rank);
    const Report report = report_of(ranks_with(stalling_chain(), rank));
    CAPTURE(report.verdict.text);
    CHECK(report.verdict.kind == VerdictKind::drop);
    CHECK(report.verdict.stage == "crop");
    REQUIRE(report.ranks.size() == kRanks);
    CHECK(report.verdict.ranks == RankRange{rank, 1});
    CHECK(has(report.verdict.text, "rank " + std::to_string(rank) + ", crop"));
    CHECK(report.ranks[static_cast<std::size_t>(rank)].payoff.value.value_or(0) >
          2 * report.live.value.value_or(0));
  }
}

TEST_CASE("no rank's input explains a slow backward pass") {
  const Report report = report_of(ranks_with(slow_step_chain(), 1));
  CHECK(report.verdict.kind == VerdictKind::flat);
  CHECK_FALSE(report.verdict.ranks.has_value());
  CHECK(has(report.verdict.text, "No rank's input explains"));
}

TEST_CASE("a stage that is slow on all ranks is named without one") {
  const Report report = report_of(std::vector<SimulatedChain>(kRanks, stalling_chain()));
  CAPTURE(report.verdict.text);
  CHECK(report.verdict.stage == "crop");
  CHECK_FALSE(report.verdict.ranks.has_value());
  CHECK(has(report.verdict.text, "No single rank explains it"));
}

TEST_CASE("many ranks of one machine are tried in groups, and then one by one") {
  std::vector<SimulatedChain> chains(17, fast_chain());
  chains[10] = stalling_chain();
  const Report report = report_of(chains);
  CAPTURE(report.verdict.text);
  CHECK(report.ranks.size() == 11);  // nine groups, and the two ranks of one
  CHECK(report.verdict.ranks == RankRange{10, 1});
  const Report all = report_of(std::vector<SimulatedChain>(17, stalling_chain()));
  CHECK(has(all.verdict.text, "No group of ranks explains it"));
}

TEST_CASE("all ranks run the same steps in every block, and none has a time limit") {
  const Job job(ranks_with(stalling_chain(), 2));
  ServedRanks served(job.ranks());
  std::mutex mutex;
  std::vector<std::vector<nlohmann::json>> runs(kRanks);
  for (int rank = 0; rank < kRanks; ++rank) {
    served.adapter(rank).on_message = [&, rank](const nlohmann::json& request) {
      const std::scoped_lock lock(mutex);
      if (request.at("type") == "run") runs[static_cast<std::size_t>(rank)].push_back(request);
    };
  }
  const auto replayer = served.attach();
  static_cast<void>(bisect(*replayer, {.budget_seconds = 300, .sustain_seconds = 1}));
  replayer->finish(true, 0, "");
  bool differs = false;
  for (std::size_t b = 0; b < runs[0].size(); ++b) {
    for (const auto& rank : runs) {
      REQUIRE(rank.size() == runs[0].size());
      CHECK(rank[b].at("steps") == runs[0][b].at("steps"));
      CHECK(rank[b].at("warmup_steps") == runs[0][b].at("warmup_steps"));
      CHECK(rank[b].at("max_seconds") == 0);
      differs = differs || rank[b].at("arm") != runs[0][b].at("arm");
    }
  }
  CHECK(differs);  // the arms of one rank
}

TEST_CASE("an error in one rank stops the others, and every later call repeats it") {
  const Job job(ranks_with(fast_chain(), 0));
  ServedRanks served(job.ranks(), 2, {.fault = Fault::error, .type = "run", .nth = 1});
  const auto replayer = served.attach({.answer = 60, .stop = 0.05});
  const BlockRequest request{.steps = 2};
  const BlockRequest changed{.arm = {.kind = ArmKind::live, .overrides = {{"workers", "1"}}},
                             .steps = 2};
  CHECK(replayer->run(request, {}).steps == 2);
  const auto error_of = [&](const BlockRequest& block) {
    return error_message([&] { static_cast<void>(replayer->run(block, {})); }, ErrorKind::data);
  };
  // The arm is one that a single process would survive; the ranks are out of step.
  const std::string message = error_of(changed);
  CHECK(has(message, "rank 2"));
  CHECK(has(message, "ValueError: bad crop"));
  CHECK(error_of(request) == message);
  CHECK_THROWS_AS(replayer->check_running(), Error);
  CHECK(replayer->finish(true, 3, ""));
}

TEST_CASE("ranks are reported on in the terms of their adapters") {
  const Job job(ranks_with(fast_chain(), 0));
  ServedRanks served(job.ranks());
  for (int rank = 0; rank < kRanks; ++rank) served.adapter(rank).settings = torch_settings_json();
  const ChainDescription chain = served.attach()->describe();
  CHECK_FALSE(chain.settings.of_file);
  CHECK(chain.settings.find("num_workers") != nullptr);
}

TEST_CASE("looking inside a stage of several ranks changes nothing and says why") {
  const Job job(ranks_with(fast_chain(), 0));
  ServedRanks served(job.ranks());
  const auto replayer = served.attach();
  const std::size_t stages = replayer->describe().stages.size();
  const AttachedReplayer::Inside inside = replayer->look_inside("read");
  CHECK_FALSE(inside.changed);
  REQUIRE(inside.notes.size() == 1);
  CHECK(has(inside.notes[0], "--inside: not possible with several ranks"));
  CHECK(replayer->describe().stages.size() == stages);
}

TEST_CASE("a rank that is silent is named, and a stop reaches all") {
  const Job job(ranks_with(fast_chain(), 0));
  ServedRanks served(job.ranks(), 3, {.fault = Fault::silent});
  const auto replayer = served.attach({.answer = 2, .stop = 0.05});
  const std::string message =
      error_message([&] { static_cast<void>(replayer->run({.steps = 2}, {})); }, ErrorKind::data);
  CHECK(has(message, "rank 3"));
}

TEST_CASE("ranks with other chains are not measured together") {
  SimulatedChain other = fast_chain();
  other.stages.pop_back();
  const Job job(ranks_with(other, 1));
  ServedRanks served(job.ranks());
  CHECK(has(usage_error([&] { static_cast<void>(served.attach()); }), "rank 1"));
}

TEST_CASE("a block is as long as that of the slowest rank") {
  BlockResult fast;
  fast.seconds = 1;
  fast.steps = 4;
  fast.samples = 32;
  fast.cpu_seconds = 1;
  fast.group_taus = {0.1, 0.3};
  BlockResult slow = fast;
  slow.seconds = 3;
  slow.cpu_seconds = 2;
  slow.starved_seconds = 2;
  slow.group_taus = {0.2, 0.2};
  const BlockResult whole = combine_blocks({fast, slow, fast});
  CHECK(whole.seconds == 3);
  CHECK(whole.samples == 32);
  CHECK(whole.starved_seconds == 2);
  CHECK(whole.cpu_seconds == doctest::Approx(4.0 / 3));
  CHECK(whole.group_taus == std::vector<double>{0.2, 0.3});
  CHECK_FALSE(whole.is_void);
  slow.steps = 5;
  CHECK(combine_blocks({fast, slow}).is_void);
}

TEST_CASE("one throttled device makes the block of all ranks one of a throttled device") {
  BlockResult leading;
  leading.starved_seconds = 1;
  leading.device.sm_clock_mhz = 1980;
  leading.device.throttling = Throttling{};
  BlockResult hot;
  hot.device.sm_clock_mhz = 1200;
  hot.device.throttling = Throttling{.thermal = true};
  CHECK(combine_blocks({leading, hot}).device.throttled());
  CHECK(combine_blocks({leading, leading}).device.sm_clock_mhz == 1980);
}

TEST_CASE("what the ranks ask of storage is added up, as far as they can tell") {
  StorageCounts one;
  one.samples = 64;
  one.requests = 10;
  one.most_in_flight = 4;
  one.file_opens = 3;
  StorageCounts other = one;
  other.most_in_flight = 2;
  other.file_opens.reset();
  other.disk_bytes = 1e6;
  const auto both = combine_storage({one, std::nullopt, other});
  REQUIRE(both.has_value());
  CHECK(both->samples == 128);
  CHECK(both->requests == 20);
  CHECK(both->most_in_flight == 4);
  CHECK(both->file_opens == 3);
  CHECK(both->disk_bytes == 1e6);
  CHECK_FALSE(combine_storage({std::nullopt, std::nullopt}).has_value());
}
