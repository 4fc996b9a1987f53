// Super-rounds, block by block.
#include "cachebisect/bisect/record/round_runner.hpp"

#include <algorithm>
#include <vector>

#include "support/forwarding_replayer.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"

using namespace cachebisect;

namespace {

const Arm kUnseen{.kind = ArmKind::unseen, .boundary = 1};

/// Has samples for so many unseen blocks.
class FewUnseen final : public test::ForwardingReplayer {
 public:
  FewUnseen(const SimulatedChain& chain, int blocks)
      : ForwardingReplayer(chain, {.noise = {.white_cv = 0.01}}), left_(blocks) {}

  [[nodiscard]] bool supports(const Arm& arm) const override {
    return (arm.kind != ArmKind::unseen || left_ > 0) && ForwardingReplayer::supports(arm);
  }
  BlockResult run(const BlockRequest& request, const std::stop_token& stop) override {
    if (!supports(request.arm)) throw Error(ErrorKind::usage, "not supported");
    if (request.arm.kind == ArmKind::unseen) --left_;
    return ForwardingReplayer::run(request, stop);
  }

 private:
  int left_;
};

}  // namespace

TEST_CASE("a super-round goes on without unseen blocks once no samples are left for them") {
  SimulatedChain chain;
  chain.stages = {{.name = "read", .category = Category::read, .seconds = 1e-4},
                  {.name = "decode", .category = Category::decode, .seconds = 1e-3}};
  chain.workers = 1;
  FewUnseen replayer(chain, 2);
  replayer.prepare({}, {});
  std::vector<BlockRecord> records;
  const BisectOptions options;
  BlockRunner blocks(replayer, options, records);
  blocks.start();
  RandomStream random({.seed = 1});
  RoundRunner runner(blocks, random);
  PlannedRound round{.blocks = {{.arm = {}}, {.arm = {.boundary = 2}}, {.arm = kUnseen}},
                     .repeats = 3,
                     .until = 1000};
  RoundTable table({Arm{}, Arm{.boundary = 2}});
  CHECK(runner.run(round, table));
  CHECK(table.rounds() == 3);
  CHECK(std::ranges::count(records, kUnseen, &BlockRecord::arm) == 2);
  CHECK(records.size() == 8);
}
