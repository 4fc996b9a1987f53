#include "cachebisect/executor/pause_debt.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

using cachebisect::QueueDebt;
using cachebisect::WorkerTurn;

namespace {

constexpr double kBlock = 48;  ///< seconds of a block, in which each worker loads several samples
constexpr double kAlone = 0.25;

/// Workers that spend kAlone seconds on each sample by themselves, and then `shared` seconds in a
/// resource that admits so many of them at once. Blocks are cut out of their time.
class PausedWorkers {
 public:
  PausedWorkers(std::size_t workers, std::size_t places, double shared)
      : turns_(workers), free_at_(places), shared_(shared) {}

  /// Samples that are loaded in the next block, including those in work at its end.
  int run_block() {
    charge();
    std::fill(free_at_.begin(), free_at_.end(), 0.0);
    std::vector<double> next(turns_.size());
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      WorkerTurn& turn = turns_[i];
      next[i] = turn.overtime_debt() + turn.queueing_debt();
      turn.overtime_debt() = turn.queueing_debt() = 0;
      turn.begin(next[i]);
    }
    int samples = 0;
    for (;; ++samples) {
      const auto first = std::min_element(next.begin(), next.end());
      if (*first >= kBlock) break;
      WorkerTurn& turn = turns_[static_cast<std::size_t>(first - next.begin())];
      *first = pass(*first + kAlone);
      if (turn.count_sample()) turn.end_early(*first);
      if (*first >= kBlock) turn.end(*first, kBlock, true);
    }
    return samples;
  }

  [[nodiscard]] const QueueDebt& queueing() const { return queueing_; }

 private:
  void charge() {
    std::vector<double> saved;
    for (const WorkerTurn& turn : turns_) {
      if (const auto seconds = turn.saved()) saved.push_back(*seconds);
    }
    queueing_.add(saved);
    for (WorkerTurn& turn : turns_) turn.charge(queueing_.seconds());
  }
  double pass(double arrival) {
    const auto place = std::min_element(free_at_.begin(), free_at_.end());
    *place = std::max(*place, arrival) + shared_;
    return *place;
  }

  std::vector<WorkerTurn> turns_;
  QueueDebt queueing_;
  std::vector<double> free_at_;
  double shared_;
};

/// Mean over the blocks after the first three.
double samples_per_block(PausedWorkers workers) {
  constexpr int kBlocks = 64;
  for (int i = 0; i < 3; ++i) workers.run_block();
  double sum = 0;
  for (int i = 0; i < kBlocks; ++i) sum += workers.run_block();
  return sum / kBlocks;
}

}  // namespace

TEST_CASE("a resource that one worker at a time may use gives no more for a pause") {
  // Without the queueing debt these are W - 1 samples more.
  CHECK(samples_per_block({2, 1, 1.0}) == doctest::Approx(kBlock).epsilon(0.005));
  CHECK(samples_per_block({4, 1, 1.0}) == doctest::Approx(kBlock).epsilon(0.005));
  CHECK(samples_per_block({8, 1, 1.0}) == doctest::Approx(kBlock).epsilon(0.025));
}

TEST_CASE("nor does one that several workers may use at once") {
  CHECK(samples_per_block({4, 2, 1.0}) == doctest::Approx(2 * kBlock).epsilon(0.02));
}

TEST_CASE("workers that share nothing owe nothing but the time that they worked on") {
  PausedWorkers workers(4, 4, 1.0);
  for (int i = 0; i < 8; ++i) workers.run_block();
  CHECK(workers.queueing().known());
  CHECK(workers.queueing().seconds() == doctest::Approx(0).scale(1).epsilon(1e-9));
  CHECK(samples_per_block({4, 4, 1.0}) == doctest::Approx(4 * kBlock / (1 + kAlone)).epsilon(0.01));
}

TEST_CASE("what was saved is owed only where it is more than its error") {
  QueueDebt debt;
  CHECK(debt.seconds() == 0);
  CHECK_FALSE(debt.known());
  debt.add({});
  CHECK_FALSE(debt.known());

  SUBCASE("by the workers of the first turn") {
    debt.add(std::array{1.0, 1.2, 0.8});
    CHECK(debt.seconds() == doctest::Approx(1.0));
  }
  SUBCASE("which may differ too much") {
    debt.add(std::array{3.0, -2.0, 1.0});
    CHECK(debt.seconds() == 0);
  }
  SUBCASE("by the turns, once there are some") {
    for (int i = 0; i < 8; ++i) debt.add(std::array{4.0, 0.1});
    CHECK(debt.seconds() == doctest::Approx(2.05));
  }
  SUBCASE("a negative one is never paid back") {
    for (int i = 0; i < 8; ++i) debt.add(std::array{-1.0, -1.1});
    CHECK(debt.seconds() == 0);
  }
}

TEST_CASE("a turn says what its early samples saved") {
  WorkerTurn turn;
  turn.begin(0);
  turn.end(9, 7, true);
  turn.charge(0.5);
  CHECK(turn.overtime_debt() == doctest::Approx(2));
  CHECK(turn.queueing_debt() == doctest::Approx(0.5));

  turn.begin(100);
  CHECK_FALSE(turn.count_sample());
  CHECK(turn.count_sample());
  turn.exclude(1);
  turn.end_early(103);                    // 2 s for two
  CHECK_FALSE(turn.saved().has_value());  // none is later yet
  for (int i = 0; i < 4; ++i) CHECK_FALSE(turn.count_sample());
  turn.end(111, 110, true);  // 8 s for four
  CHECK(turn.saved().value_or(0) == doctest::Approx(2));

  SUBCASE("not if the worker waited at the pause before") {
    turn.begin(200);
    turn.end(210, 205, false);
    turn.charge(0.5);
    turn.begin(300);
    for (int i = 0; i < 6; ++i) (void)turn.count_sample();
    turn.end(320, 315, true);
    CHECK_FALSE(turn.saved().has_value());
  }
  SUBCASE("not twice") {
    turn.charge(0);
    CHECK_FALSE(turn.saved().has_value());
  }
}
