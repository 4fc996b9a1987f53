#include "cachebisect/bisect/record/recorded_rounds.hpp"

#include <algorithm>
#include <utility>

namespace cachebisect {
namespace {

using Blocks = std::span<const BlockRecord>;

bool belong_together(const BlockRecord& a, const BlockRecord& b) {
  return a.phase == b.phase && a.super_round == b.super_round && a.unfinished == b.unfinished;
}

/// The blocks of each super-round, in order.
std::vector<Blocks> super_rounds(Blocks blocks) {
  std::vector<Blocks> all;
  while (!blocks.empty()) {
    const auto end = std::ranges::find_if(
        blocks, [&](const BlockRecord& block) { return !belong_together(blocks.front(), block); });
    const auto count = static_cast<std::size_t>(end - blocks.begin());
    if (blocks.front().round >= 0) all.push_back(blocks.first(count));
    blocks = blocks.subspan(count);
  }
  return all;
}

enum class Nulls { counted, left_out };

void add(const BlockRecord& block, RoundTable& table, Nulls nulls) {
  const BlockResult& result = block.result;
  if (result.is_void || !(result.seconds > 0) || result.samples == 0) return;
  const int repeat = block.round - block.super_round;
  if (block.arm.kind != ArmKind::null) {
    if (const auto column = table.find(block.arm)) table.add(*column, result, repeat);
    return;
  }
  const auto column = table.find({.boundary = block.arm.boundary});
  if (!column || nulls == Nulls::left_out) return;
  table.add_null(*column, result, repeat);
  if (block.also_for_mean) table.add_again(*column, result, repeat);
}

void add(Blocks super_round, RoundTable& table, Nulls nulls) {
  for (const BlockRecord& block : super_round) add(block, table, nulls);
  if (super_round.front().unfinished) {
    table.commit_unfinished();
  } else {
    table.commit();
  }
}

bool explains(const BlockRecord& block) {
  return block.arm.kind == ArmKind::shadow || block.arm.kind == ArmKind::bypass;
}

/// Rounds of the verdict explain it only if they are complete.
bool explains_early(Blocks super_round) {
  return super_round.front().phase == BlockPhase::measure && !super_round.front().unfinished &&
         std::ranges::any_of(super_round, explains);
}

}  // namespace

RoundTable recorded_rounds(Blocks blocks, BlockPhase phase, std::vector<Arm> columns) {
  RoundTable table(std::move(columns));
  for (const Blocks super_round : super_rounds(blocks)) {
    if (super_round.front().phase == phase) add(super_round, table, Nulls::counted);
  }
  return table;
}

RoundTable recorded_explanation(Blocks blocks, std::vector<Arm> columns) {
  RoundTable table(std::move(columns));
  for (const Blocks super_round : super_rounds(blocks)) {
    const bool after = super_round.front().phase == BlockPhase::explain;
    if (after || explains_early(super_round)) add(super_round, table, Nulls::left_out);
  }
  return table;
}

}  // namespace cachebisect
