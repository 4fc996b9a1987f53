// Ranks keep the queues of an arm together, and take as many untimed steps until they are full.
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "support/served_ranks.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/simulate/simulated_replayer.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

constexpr int kThreeRanks = 3;
constexpr int kLongest = 9;  ///< untimed steps that one rank needs, and the others not

SimulatedChain one_stage() {
  SimulatedChain chain;
  chain.stages = {{.name = "read", .category = Category::read, .seconds = 1e-4}};
  chain.workers = 2;
  return chain;
}

/// Three ranks, of which one may not keep queues. Remembers what each was asked.
class QueuedJob {
 public:
  explicit QueuedJob(int without_queues = -1) {
    std::vector<Replayer*> all;
    for (int rank = 0; rank < kThreeRanks; ++rank) {
      SimulatedOptions options{.seed = 1};
      options.keeps_queues = rank != without_queues;
      owned_.push_back(std::make_unique<SimulatedReplayer>(one_stage(), options));
      all.push_back(owned_.back().get());
    }
    served_ = std::make_unique<ServedRanks>(all);
    for (int rank = 0; rank < kThreeRanks; ++rank) watch(rank);
    replayer_ = served_->attach();
  }

  AttachedReplayer& replayer() { return *replayer_; }

  /// The requests to all ranks so far, rank by rank.
  std::vector<std::vector<nlohmann::json>> requests(const std::string& type) {
    std::vector<std::vector<nlohmann::json>> found(kThreeRanks);
    const std::scoped_lock lock(mutex_);
    for (std::size_t rank = 0; rank < found.size(); ++rank) {
      for (const auto& one : requests_[rank]) {
        if (one.at("type") == type) found[rank].push_back(one);
      }
    }
    return found;
  }

 private:
  void watch(int rank) {
    FakeAdapter& adapter = served_->adapter(rank);
    adapter.settings = {{"settling_steps", rank == 1 ? kLongest : 4}};
    adapter.on_message = [this, rank](const nlohmann::json& request) {
      const std::scoped_lock lock(mutex_);
      requests_[static_cast<std::size_t>(rank)].push_back(request);
    };
  }

  std::mutex mutex_;
  std::vector<std::vector<nlohmann::json>> requests_{kThreeRanks};
  std::vector<std::unique_ptr<SimulatedReplayer>> owned_;
  std::unique_ptr<ServedRanks> served_;
  std::unique_ptr<AttachedReplayer> replayer_;
};

}  // namespace

TEST_CASE("the queues of several ranks are kept if every rank can") {
  QueuedJob job;
  CHECK(job.replayer().describe().keeps_queues);
  job.replayer().prepare({}, {});
  for (const auto& asked : job.requests("prepare")) {
    REQUIRE(asked.size() == 1);
    CHECK(asked[0].at("keeps_queues") == true);
  }
}

TEST_CASE("one rank that cannot keep its queues stands for all") {
  for (const int rank : {0, 2}) {
    CAPTURE(rank);
    QueuedJob job(rank);
    CHECK_FALSE(job.replayer().describe().keeps_queues);
    job.replayer().prepare({}, {});
    for (const auto& asked : job.requests("prepare"))
      CHECK(asked.at(0).at("keeps_queues") == false);
  }
}

TEST_CASE("the first block of an arm has the untimed steps of the rank that needs most") {
  QueuedJob job;
  const std::vector<Arm> arms{{.boundary = 0},
                              {.boundary = 1},
                              {.boundary = 0, .observed = false},
                              {.boundary = 1, .ranks = {0, 2}},
                              {.boundary = 1, .ranks = {2, 1}}};
  for (int round = 0; round < 2; ++round) {
    for (const Arm& arm : arms) static_cast<void>(job.replayer().run({.arm = arm, .steps = 2}, {}));
  }
  for (const auto& asked : job.requests("run")) {
    REQUIRE(asked.size() == 2 * arms.size());
    std::vector<int> settling;
    for (const auto& run : asked) settling.push_back(run.at("settling_steps"));
    // Live without probes goes on where live with probes was.
    CHECK(settling == std::vector{kLongest, kLongest, 0, kLongest, kLongest, 0, 0, 0, 0, 0});
  }
}

TEST_CASE("a live rank knows which others are freed: its queue is another one then") {
  QueuedJob job;
  for (const Arm& arm : {Arm{.boundary = 0}, Arm{.boundary = 1, .ranks = {0, 2}}}) {
    static_cast<void>(job.replayer().run({.arm = arm, .steps = 2}, {}));
  }
  const auto of_last = job.requests("run").back();
  REQUIRE(of_last.size() == 2);
  CHECK(of_last[0].at("arm").at("boundary") == 0);
  CHECK(of_last[1].at("arm").at("boundary") == 0);
  CHECK_FALSE(of_last[0].at("arm").contains("ranks"));
  CHECK(of_last[1].at("arm").at("ranks") == nlohmann::json{0, 2});
}
