#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "support/measured.hpp"
#include "support/starved_chain.hpp"
#include <doctest/doctest.h>

#include "cachebisect/bisect/advice/remedies.hpp"
#include "cachebisect/bisect/analysis/waterfall.hpp"

using namespace cachebisect;
using test::rate_of;

namespace {

/// The crop limits twice as much.
SimulatedChain one_worker_chain() {
  SimulatedChain chain = test::starved_chain();
  chain.workers = 1;
  return chain;
}

/// What could be said of a stage of a chain, with predictions, beyond the three of a report.
class Advised {
 public:
  explicit Advised(const SimulatedChain& chain)
      : measured_(test::measure_chain(chain, {.budget_seconds = 30})),
        analysis_(analyse(measured_)),
        advice_(measured_, analysis_.waterfall) {}

  Advice& advice() { return advice_; }
  /// The stage with another type.
  StageReport of_type(std::size_t index, const std::string& type) {
    measured_.chain.stages.at(index).type = type;
    StageReport stage = analysis_.waterfall.stages.at(index);
    stage.type = type;
    return stage;
  }
  const StageReport& stage(std::size_t index) { return analysis_.waterfall.stages.at(index); }
  std::optional<double> gain_of(const std::string& id) {
    for (const Proposal& proposal : advice_.proposals()) {
      if (proposal.remedy.id == id && proposal.changes) {
        return *analysis_.forecast->after(*proposal.changes).value -
               *analysis_.waterfall.live.value;
      }
    }
    return std::nullopt;
  }

 private:
  Measurements measured_;
  Analysis analysis_;
  Advice advice_;
};

}  // namespace

TEST_CASE("the predicted gain of a remedy is that of the chain with the remedy applied") {
  const SimulatedChain chain = one_worker_chain();
  const Report report = test::report_of(test::measure_chain(chain, {.budget_seconds = 30}));
  const auto found = std::ranges::find(report.remedies, "workers", &Remedy::id);
  REQUIRE(found != report.remedies.end());
  const Remedy& workers = *found;
  REQUIRE(workers.predicted.value);
  SimulatedChain changed = chain;
  changed.workers = 4;
  CHECK(*workers.predicted.value ==
        doctest::Approx(rate_of(changed) - rate_of(chain)).epsilon(0.03));
}

TEST_CASE("preparing a stage gains what it and those before it cost, less what reading costs") {
  const SimulatedChain chain = one_worker_chain();
  Advised advised(chain);
  const StageReport crop = advised.stage(2);
  offer_prepared(advised.advice(), crop);
  const double read = advised.advice().proposals().at(0).changes->added_seconds;
  CHECK(read > 0);
  CHECK(read < 1e-3);
  SimulatedChain changed = chain;
  for (std::size_t stage = 0; stage < 3; ++stage) changed.stages[stage].seconds = 0;
  changed.stages[0].seconds = read;
  REQUIRE(advised.gain_of("prepare").has_value());
  CHECK(*advised.gain_of("prepare") ==
        doctest::Approx(rate_of(changed) - rate_of(chain)).epsilon(0.03));
}

TEST_CASE("moving a stage to the device gains what the stage costs") {
  const SimulatedChain chain = one_worker_chain();
  SimulatedChain changed = chain;
  changed.stages[2].seconds = 0;
  const double freed = rate_of(changed) - rate_of(chain);
  Advised advised(chain);
  offer_device(advised.advice(), advised.of_type(2, "augment.normalize"));
  REQUIRE(advised.gain_of("to_device").has_value());
  CHECK(*advised.gain_of("to_device") == doctest::Approx(freed).epsilon(0.03));
}

TEST_CASE("the predicted gain of an overlapped or halved copy is that of the changed chain") {
  SimulatedChain chain = one_worker_chain();
  chain.workers = 2;
  chain.stages[2].seconds = 20e-6;
  chain.copy_bytes_per_second = 1e8;
  chain.source_bytes = 10000;  // 100 us per sample
  chain.copy_prefetch = 0;
  Advised advised(chain);
  advise_on_batch_stage(advised.advice(), advised.stage(5));
  SimulatedChain changed = chain;
  changed.copy_prefetch = 2;
  REQUIRE(advised.gain_of("overlap_copy").has_value());
  CHECK(*advised.gain_of("overlap_copy") ==
        doctest::Approx(rate_of(changed) - rate_of(chain)).epsilon(0.03));
  changed = chain;
  changed.source_bytes = 5000;
  REQUIRE(advised.gain_of("half").has_value());
  CHECK(*advised.gain_of("half") ==
        doctest::Approx(rate_of(changed) - rate_of(chain)).epsilon(0.03));
}

TEST_CASE("the predicted gain of batches without padding is that of a copy of fewer bytes") {
  SimulatedChain chain = one_worker_chain();
  chain.workers = 2;
  chain.stages[2].seconds = 20e-6;
  chain.copy_bytes_per_second = 5e7;
  chain.source_bytes = 10000;
  const auto gain = [](const SimulatedChain& planted) {
    Advised advised(planted);
    StageReport collate = advised.stage(4);
    collate.type = "collate.pad";
    collate.padding_share = 0.3;
    advise_on_batch_stage(advised.advice(), collate);
    return advised.gain_of("bucket");
  };
  SimulatedChain changed = chain;
  changed.source_bytes = 7000;
  REQUIRE(gain(chain).has_value());
  CHECK(*gain(chain) == doctest::Approx(rate_of(changed) - rate_of(chain)).epsilon(0.03));
  chain.stages[2].seconds = 900e-6;  // The workers limit: a smaller copy gains nothing.
  CHECK(std::abs(*gain(chain)) < 0.01 * rate_of(chain));
}

TEST_CASE("a remedy whose effect on costs is unknown has no prediction") {
  Advised advised(one_worker_chain());
  StageReport read = advised.stage(0);
  read.wait_seconds_per_sample = 1;
  advise_on_sample_stage(advised.advice(), read);
  advise_on_sample_stage(advised.advice(), advised.stage(2));
  advise_on_training_step(advised.advice());
  for (const char* const id :
       {"storage", "large_files", "order", "more_cpu", "batch_size", "model"}) {
    CAPTURE(id);
    const auto& all = advised.advice().proposals();
    CHECK(
        std::any_of(all.begin(), all.end(), [&](const Proposal& p) { return p.remedy.id == id; }));
    CHECK_FALSE(advised.gain_of(id).has_value());
  }
}
