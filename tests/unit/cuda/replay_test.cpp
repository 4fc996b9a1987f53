// Replay equals live on a CUDA device that runs its work as late as the rules allow, or in any
// order that they allow.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "support/careless_device.hpp"
#include "support/cuda_job.hpp"
#include "support/sanitized.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using test::CarelessDevice;
using test::CudaJob;
using test::CudaJobOptions;

namespace {

constexpr int kSteps = 9;
constexpr int kWarmup = 2;

void check_all_arms(const CudaJobOptions& options, std::uint64_t schedule) {
  CAPTURE(schedule);
  CAPTURE(options.copy.prefetch);
  CAPTURE(options.copy.pinned);
  CAPTURE(options.chain.workers);
  cuda_stub::Machine machine({.schedule = schedule});
  {
    CudaJob job(options);
    const auto live = job.run({ArmKind::live, 0, 0, {}}, kSteps, kWarmup);
    CHECK(live == test::batches_on_cpu(options, kSteps, kWarmup));
    const auto last = static_cast<int>(job.replayer.describe().stages.size());
    for (int boundary = 1; boundary <= last; ++boundary) {
      CAPTURE(boundary);
      CHECK(job.run({ArmKind::replay, boundary, 0, {}}, kSteps, kWarmup) == live);
      CHECK(job.run({ArmKind::bypass, 0, boundary, {}}, kSteps, kWarmup) == live);
    }
    if (options.chain.workers > 0) {
      CHECK(job.run({ArmKind::shadow, 0, 0, {}}, kSteps, kWarmup) == live);
    }
  }
  CHECK(machine.violations() == std::vector<std::string>{});
  CHECK(machine.leaks() == std::vector<std::string>{});
}

/// The bytes of each sample, from batches of which each field has one row per sample.
using Rows = std::map<std::uint64_t, std::vector<std::string>>;

/// Adds what is not known; false if a sample has other bytes than before.
bool add_rows(const std::vector<test::SeenBatch>& batches, Rows& rows) {
  bool same = true;
  for (const test::SeenBatch& batch : batches) {
    const std::size_t size = batch.indices.size();
    for (std::size_t row = 0; row < size; ++row) {
      std::vector<std::string> fields;
      for (const std::string& bytes : batch.bytes) {
        const std::size_t length = bytes.size() / size;
        fields.push_back(bytes.substr(row * length, length));
      }
      const auto [known, fresh] = rows.emplace(batch.indices[row], fields);
      same = same && (fresh || known->second == fields);
    }
  }
  return same;
}

/// Each arm has several blocks in turns with the others; every row has the bytes of its sample.
void check_kept_arms(const CudaJobOptions& options, std::uint64_t schedule) {
  CAPTURE(schedule);
  CAPTURE(options.copy.prefetch);
  CAPTURE(options.copy.pinned);
  cuda_stub::Machine machine({.schedule = schedule});
  {
    Rows rows;
    add_rows(test::batches_on_cpu(options, 20, 2), rows);
    const std::size_t known = rows.size();
    CudaJob job(options);
    REQUIRE(job.replayer.describe().keeps_queues);
    const auto last = static_cast<int>(job.replayer.describe().stages.size());
    for (int round = 0; round < 3; ++round) {
      job.replayer.begin_round();
      CHECK(add_rows(job.run({ArmKind::shadow, 0, 0, {}}, 3, 2), rows));
      for (int boundary = 0; boundary <= last; ++boundary) {
        CAPTURE(boundary);
        CHECK(add_rows(job.run({ArmKind::replay, boundary, 0, {}}, 3, 2), rows));
        if (boundary == 0) continue;
        CHECK(add_rows(job.run({ArmKind::bypass, 0, boundary, {}}, 3, 2), rows));
      }
    }
    CHECK(rows.size() == known);
  }
  CHECK(machine.violations() == std::vector<std::string>{});
  CHECK(machine.leaks() == std::vector<std::string>{});
}

/// Whether some of the first schedules show wrong batches.
bool is_found(CarelessDevice::Without without) {
  const CudaJobOptions options;
  const auto expected = test::batches_on_cpu(options, kSteps, kWarmup);
  for (std::uint64_t schedule = 0; schedule < 8; ++schedule) {
    cuda_stub::Machine machine({.schedule = schedule});
    CudaJob job(options, std::make_shared<CarelessDevice>(without));
    if (job.run({ArmKind::live, 0, 0, {}}, kSteps, kWarmup) != expected) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("arms that keep their queues give each sample's own bytes, in any order of the device") {
  for (std::uint64_t schedule = 0; schedule < 4; ++schedule) {
    for (const LoaderKind loader : {LoaderKind::sample, LoaderKind::batch}) {
      for (const CopyOptions copy :
           {CopyOptions{true, true, 2}, CopyOptions{true, true, 0}, CopyOptions{false, true, 2}}) {
        check_kept_arms({.chain = {.samples = 56, .workers = 3, .loader = loader},
                         .copy = copy,
                         .keep_queues = true},
                        schedule);
      }
    }
  }
}

TEST_CASE("replay equals live and the cpu at every boundary, however late the device works") {
  for (const int prefetch : {0, 1, 2, 3}) {
    for (const int workers : {0, 2}) {
      check_all_arms({.chain = {.samples = 56, .workers = workers}, .copy = {true, true, prefetch}},
                     0);
    }
  }
}

TEST_CASE("replay equals live and the cpu at every boundary in any order that CUDA allows") {
  for (std::uint64_t schedule = 1; schedule <= (test::kIsSanitized ? 12 : 24); ++schedule) {
    const int prefetch = static_cast<int>(schedule % 4);
    const int workers = static_cast<int>(schedule % 3);
    const LoaderKind loader = schedule % 2 == 0 ? LoaderKind::sample : LoaderKind::batch;
    check_all_arms({.chain = {.samples = 56, .workers = workers, .loader = loader},
                    .copy = {true, true, prefetch}},
                   schedule);
  }
}

TEST_CASE("replay equals live with pageable slots and with blocking copies") {
  for (const std::uint64_t schedule : {0, 5}) {
    check_all_arms({.copy = {false, true, 2}}, schedule);
    check_all_arms({.copy = {true, false, 2}}, schedule);
    check_all_arms({.copy = {false, false, 0}}, schedule);
  }
}

TEST_CASE("a device that does not wait for events shows wrong batches") {
  CHECK(is_found(CarelessDevice::Without::waits));
}

// A worker that overwrites what is copied is a data race, which ThreadSanitizer reports first.
TEST_CASE("slots that are filled before they have been copied show wrong batches" *
          doctest::skip(test::kIsThreadSanitized)) {
  CHECK(is_found(CarelessDevice::Without::slot_events));
}
