// Blocks of the ranks of a node as one: the whole job's block is the same, however its ranks were
// put together.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/adapter_json.hpp"
#include "support/errors.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/random.hpp"
#include "cachebisect/remote/node_ask.hpp"

using namespace cachebisect;
using nlohmann::json;

namespace {

constexpr int kJoinedRanks = 13;
constexpr int kCases = 200;

/// Ranks differ in everything; some wait alike.
BlockResult random_block(RandomStream& random) {
  BlockResult block;
  block.start_seconds = static_cast<double>(random.below(100));
  block.seconds = 1 + static_cast<double>(random.below(8));
  block.steps = random.below(40) == 0 ? 5 : 4;
  block.starved_seconds = static_cast<double>(random.below(6));
  block.cpu_seconds = static_cast<double>(random.below(100));
  block.skipped = random.below(3);
  block.first_batch_seconds = static_cast<double>(random.below(9));
  block.is_void = random.below(40) == 0;
  block.group_taus = {static_cast<double>(random.below(9)), static_cast<double>(random.below(9))};
  if (random.below(4) == 0) block.not_kept = {"file-" + std::to_string(random.below(3))};
  return block;
}

/// The parts of nodes, whose ranks follow each other.
std::vector<BlockPart> by_nodes(const std::vector<BlockPart>& ranks, RandomStream& random) {
  std::vector<BlockPart> nodes;
  std::vector<BlockPart> node;
  for (const BlockPart& rank : ranks) {
    node.push_back(rank);
    if (random.below(3) != 0 && node.size() < 5) continue;
    nodes.push_back(join_parts(std::exchange(node, {})));
  }
  if (!node.empty()) nodes.push_back(join_parts(node));
  return nodes;
}

BlockResult full_block() {
  BlockResult block;
  block.start_seconds = 1;
  block.seconds = 2;
  block.steps = 3;
  block.warmup_steps = 4;
  block.group_taus = {0.25, 0.1};
  block.samples = 5;
  block.cpu_seconds = 6;
  block.starved_seconds = 0.7;
  block.skipped = 8;
  block.first_skipped = {"a.jpg: truncated"};
  block.resident_share = 0.9;
  block.is_void = true;
  block.padding_share = 0.11;
  block.first_batch_seconds = 0.12;
  block.stages = {{.samples = 1, .busy_seconds = 2, .cpu_seconds = 3, .serial_seconds = 4},
                  {.samples = 5, .slot_write_seconds = 6, .slot_writes = 7}};
  block.trainer_seconds = 0.13;
  block.ready_batches = 1.4;
  block.device_idle_share = 0.15;
  block.device.sm_clock_mhz = 1755;
  block.device.memory_clock_mhz = 2619;
  block.device.power_watts = 412.5;
  block.device.utilization = 0.87;
  block.device.pcie_generation = 5;
  block.device.pcie_width = 16;
  block.device.throttling = Throttling{.thermal = true};
  block.not_kept = {"last.pt"};
  block.step_functions = {
      {.name = "crop", .file = "train.py", .line = 7, .share = 0.5, .movable = true}};
  return block;
}

/// As it arrives: numbers have the types of their text.
json sent(const json& message) { return json::parse(message.dump()); }

}  // namespace

TEST_CASE("blocks of nodes join to that of the whole job") {
  RandomStream random({.seed = 7});
  for (int n = 0; n < kCases; ++n) {
    CAPTURE(n);
    std::vector<BlockPart> ranks;
    for (int rank = 0; rank < kJoinedRanks; ++rank) {
      ranks.push_back(part_of_rank(random_block(random), rank, random.below(4) != 0));
    }
    // Of ranks that wait exactly alike, any may count as the slowest.
    ranks[5].loaders = 1;
    ranks[5].block.starved_seconds = 10;
    BlockResult whole = whole_block(ranks);
    BlockResult joined = whole_block(by_nodes(ranks, random));
    CHECK(joined.cpu_seconds == doctest::Approx(whole.cpu_seconds));
    joined.cpu_seconds = whole.cpu_seconds;
    std::ranges::sort(joined.not_kept);
    std::ranges::sort(whole.not_kept);
    CHECK(test::to_json(joined) == test::to_json(whole));
    REQUIRE(joined.slowest_rank.has_value() == whole.slowest_rank.has_value());
    if (!whole.slowest_rank) continue;
    CHECK(joined.slowest_rank->rank == 5);
    CHECK(joined.slowest_rank->next_starved_seconds == whole.slowest_rank->next_starved_seconds);
  }
}

TEST_CASE("the block of a node without any loader counts for its length") {
  BlockResult loading;
  loading.seconds = 1;
  loading.steps = 4;
  loading.cpu_seconds = 2;
  BlockResult other = loading;
  other.seconds = 3;
  other.starved_seconds = 9;
  other.cpu_seconds = 50;
  const BlockPart idle = join_parts({part_of_rank(other, 0, false), part_of_rank(other, 1, false)});
  CHECK(idle.loaders == 0);
  const BlockResult whole = whole_block({idle, part_of_rank(loading, 2, true)});
  CHECK(whole.seconds == 3);
  CHECK(whole.cpu_seconds == 2);
  CHECK(whole.starved_seconds == 0);
  CHECK_FALSE(whole.slowest_rank.has_value());
}

TEST_CASE("the block of a node is written and read again") {
  BlockPart part{.block = full_block(), .loaders = 8, .slowest = 3, .slowest_seconds = 1.5};
  part.next_starved_seconds = 0.25;
  const BlockPart again = read_block_part(sent(to_json(part)), 2);
  CHECK(test::to_json(again.block) == test::to_json(part.block));
  CHECK(again.loaders == 8);
  CHECK(again.slowest == 3);
  CHECK(again.slowest_seconds == 1.5);
  CHECK(again.next_starved_seconds == 0.25);
  const BlockPart empty = read_block_part(sent(to_json(BlockPart{.block = {}})), 2);
  CHECK(test::to_json(empty.block) == test::to_json(BlockResult{}));
  CHECK_FALSE(empty.next_starved_seconds.has_value());
}

TEST_CASE("an answer of a relay that breaks the protocol names the field") {
  const json good = to_json(BlockPart{.block = full_block(), .loaders = 1});
  const auto refused = [](const json& answer) {
    return test::error_message([&] { static_cast<void>(read_block_part(sent(answer), 2)); },
                               ErrorKind::internal);
  };
  CHECK(refused(good).empty());
  for (const char* const field : {"block", "loaders", "slowest", "slowest_seconds"}) {
    CAPTURE(field);
    json broken = good;
    broken[field] = -1;
    CHECK(test::has(refused(broken), std::string("field '") + field + "'"));
  }
  json broken = good;
  broken["block"]["stages"].push_back(broken["block"]["stages"][0]);
  CHECK(test::has(refused(broken), "an array of 2, one per stage"));
  CHECK(test::has(test::error_message(
                      [] {
                        static_cast<void>(read_failure({{"failed", {{"process", "x"}}}}));
                      },
                      ErrorKind::internal),
                  "field 'process'"));
}

TEST_CASE("a request to a relay that breaks the protocol names the field") {
  const json good{
      {"last_id", 3},
      {"answer_seconds", 300},
      {"stages", 2},
      {"groups", {{{"processes", {1}}, {"loader", true}, {"request", {{"type", "run"}}}}}}};
  const auto refused = [](const json& request) {
    return test::error_message([&] { static_cast<void>(read_node_ask(sent(request))); },
                               ErrorKind::internal);
  };
  CHECK(refused(good).empty());
  for (const char* const field : {"last_id", "answer_seconds", "stages", "groups"}) {
    CAPTURE(field);
    json broken = good;
    broken[field] = "x";
    CHECK(test::has(refused(broken), std::string("field '") + field + "'"));
  }
  for (const char* const field : {"processes", "loader", "request"}) {
    CAPTURE(field);
    json broken = good;
    broken["groups"][0][field] = 7;
    CHECK(test::has(refused(broken), std::string("field '") + field + "'"));
  }
  json broken = good;
  broken["stages"] = 1'000'000;
  CHECK(test::has(refused(broken), "field 'stages' must be at most 10000"));
}
