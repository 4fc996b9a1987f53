#include "cachebisect/replay/simulated_replayer.hpp"

#include <algorithm>
#include <string>

#include "cachebisect/base/error.hpp"

namespace cachebisect {

SimulatedReplayer::SimulatedReplayer(SimulatedChain chain, SimulatedOptions options)
    : ring_(std::move(chain)),
      options_(std::move(options)),
      noise_(options_.noise, options_.seed) {}

SimulatedReplayer::~SimulatedReplayer() = default;

ChainDescription SimulatedReplayer::describe() const {
  return cachebisect::describe(ring_.chain());
}

bool SimulatedReplayer::supports(const Arm& arm) const {
  const bool inside = arm.boundary >= 0 && arm.boundary <= ring_.chain().boundaries();
  switch (arm.kind) {
    case ArmKind::replay:
    case ArmKind::null:
      return inside;
    case ArmKind::live:
      return arm.overrides.empty();
    case ArmKind::bypass:
    case ArmKind::shadow:
      return false;
  }
  return false;
}

CacheFacts SimulatedReplayer::prepare(const CacheBudget& budget, const std::stop_token& stop) {
  if (stop.stop_requested()) throw Error(ErrorKind::interrupted, "stopped while filling caches");
  const SimulatedChain& chain = ring_.chain();
  const auto batch = static_cast<std::uint64_t>(chain.batch_size);
  const int ring_slots = chain.workers + chain.ring_prefetch + 1;
  const auto slots = static_cast<std::uint64_t>(ring_slots);
  CacheFacts facts;
  facts.samples = std::max((64 + batch - 1) / batch, slots + 2) * batch;
  const ChainDescription description = describe();
  facts.item_bytes.push_back(0);
  for (const auto& stage : description.stages) {
    facts.item_bytes.push_back(stage.output_bytes.value_or(0));
    (stage.held == "host" ? facts.bytes_host : facts.bytes_device) +=
        facts.item_bytes.back() * static_cast<double>(facts.samples);
  }
  if (budget.host_bytes && facts.bytes_host > *budget.host_bytes) {
    throw Error(ErrorKind::usage, "the host cache budget holds not even one batch");
  }
  facts.serve_seconds_per_sample.assign(facts.item_bytes.size(), 0);
  for (int k = 1; k < chain.collate_boundary(); ++k) {
    facts.serve_seconds_per_sample[static_cast<std::size_t>(k)] = chain.serve_seconds;
  }
  facts.seconds = static_cast<double>(facts.samples) * ring_.seconds_per_sample(0, 4);
  clock_ += facts.seconds;
  cache_samples_ = facts.samples;
  return facts;
}

MachineReading SimulatedReplayer::read_machine() const {
  MachineReading reading;
  reading.seconds = clock_;
  return reading;
}

void SimulatedReplayer::begin_round() { cache_position_ += cache_samples_ / 3 + 1; }

SimulatedReplayer::QuietBlock SimulatedReplayer::quiet(int boundary, const BlockRequest& request,
                                                       std::uint64_t first_index) const {
  const int total = request.warmup_steps + request.steps;
  const RingRun run = ring_.run(boundary, first_index, total);
  QuietBlock block;
  const double from = request.warmup_steps > 0
                          ? run.step_ends[static_cast<std::size_t>(request.warmup_steps) - 1]
                          : 0;
  block.total_seconds = run.step_ends.back();
  block.result.seconds = run.step_ends.back() - from;
  block.result.steps = request.steps;
  block.result.warmup_steps = request.warmup_steps;
  block.result.samples = static_cast<std::uint64_t>(request.steps) *
                         static_cast<std::uint64_t>(ring_.chain().batch_size);
  const double share = block.result.seconds / block.total_seconds;
  block.result.cpu_seconds = run.cpu_seconds * share;
  block.result.starved_seconds = run.starved_seconds * share;
  block.result.first_batch_seconds = run.step_ends.front();
  block.result.stages = run.stages;
  return block;
}

const SimulatedReplayer::QuietBlock& SimulatedReplayer::remembered(int boundary,
                                                                   const BlockRequest& request,
                                                                   std::uint64_t first_index) {
  const std::pair key{boundary, std::pair{request.warmup_steps, request.steps}};
  const auto found = memory_.find(key);
  if (found != memory_.end() && ring_.constant()) return found->second;
  return memory_.insert_or_assign(key, quiet(boundary, request, first_index)).first->second;
}

void SimulatedReplayer::misbehave(const std::stop_token& stop) {
  const SimulatedFaults& faults = options_.faults;
  if (faults.clock_jump_at_block == blocks_) clock_ += faults.clock_jump_seconds;
  if (faults.fail_at_block == blocks_) {
    const auto stage = static_cast<std::size_t>(std::max(1, faults.fail_stage)) - 1;
    throw Error(ErrorKind::data, "stage " + ring_.chain().stages.at(stage).name +
                                     ": planted failure at sample " +
                                     std::to_string(live_position_));
  }
  if (faults.hang_at_block == blocks_) {
    // Virtual time passes until somebody stops the run.
    while (!stop.stop_requested()) clock_ += 1e-3;
  }
}

BlockResult SimulatedReplayer::run(const BlockRequest& request, const std::stop_token& stop) {
  if (!supports(request.arm)) {
    throw Error(ErrorKind::usage, std::string("the simulation has no arm ") +
                                      to_string(request.arm.kind) + " like this");
  }
  if (request.steps < 1 || request.warmup_steps < 0) {
    throw Error(ErrorKind::usage, "a block needs at least one timed step");
  }
  misbehave(stop);
  if (stop.stop_requested()) throw Error(ErrorKind::interrupted, "stopped");
  const int boundary = request.arm.kind == ArmKind::live ? 0 : request.arm.boundary;
  const QuietBlock& block =
      remembered(boundary, request, boundary == 0 ? live_position_ : cache_position_);
  if (boundary == 0) {
    live_position_ += static_cast<std::uint64_t>(request.steps + request.warmup_steps) *
                      static_cast<std::uint64_t>(ring_.chain().batch_size);
  }
  BlockResult result = block.result;
  const double factor = noise_.factor(clock_, block.total_seconds, boundary);
  result.start_seconds = clock_;
  result.seconds *= factor;
  clock_ += options_.block_overhead_seconds + block.total_seconds * factor;
  ++blocks_;
  result.is_void = options_.faults.void_every > 0 && blocks_ % options_.faults.void_every == 0;
  if (result.is_void) clock_ += 0.6;
  return result;
}

}  // namespace cachebisect
