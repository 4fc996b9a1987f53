#include "cachebisect/remote/remote_replayer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/remote/fields.hpp"

namespace cachebisect {
namespace {

using nlohmann::json;

constexpr std::uint64_t kProbedSamples = 64;
constexpr std::uint64_t kProfiledSamples = 200;
constexpr double kDeviceShare = 0.1;

bool contains(const std::vector<int>& numbers, int number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

json number_or_null(const std::optional<double>& number) {
  return number ? json(*number) : json(nullptr);
}

}  // namespace

RemoteReplayer::RemoteReplayer(AttachedAdapter adapter, std::stop_token stop)
    : adapter_(std::move(adapter)), stop_(std::move(stop)) {
  adapter_.description.chain.device_facts.libtorch_version = adapter_.hello.torch;
}

RemoteReplayer::~RemoteReplayer() = default;

ChainDescription RemoteReplayer::describe() const { return adapter_.description.chain; }

bool RemoteReplayer::supports(const Arm& arm) const {
  const AdapterDescription& known = adapter_.description;
  if (!arm.ranks.is_all()) return false;
  switch (arm.kind) {
    case ArmKind::replay:
    case ArmKind::null:
      return contains(known.boundaries, arm.boundary) && arm.overrides.empty();
    case ArmKind::unseen:
      return contains(known.unseen, arm.boundary) && arm.overrides.empty();
    case ArmKind::bypass:
      return contains(known.stages, arm.stage) && arm.overrides.empty();
    case ArmKind::shadow:
      return known.shadow && arm.overrides.empty();
    case ArmKind::live:
      return known.overrides && support_of(arm).supported;
  }
  return false;
}

std::string RemoteReplayer::why_unsupported(const Arm& arm) const {
  const bool asked = arm.kind == ArmKind::live && arm.ranks.is_all();
  return asked && adapter_.description.overrides ? support_of(arm).why : std::string();
}

const RemoteReplayer::Support& RemoteReplayer::support_of(const Arm& arm) const {
  const auto found = supported_overrides_.find(arm.overrides);
  if (found != supported_overrides_.end()) return found->second;
  const json answer =
      adapter_.connection->request({{"type", "supports"}, {"arm", to_json(arm)}}, stop_);
  const Fields fields(answer, "the answer to 'supports'");
  Support support{fields.flag("supported"), fields.text_or("why", "")};
  return supported_overrides_.emplace(arm.overrides, std::move(support)).first->second;
}

CacheNeeds RemoteReplayer::needs(const AdapterSizes& sizes, const CacheBudget& budget) const {
  const ChainDescription& chain = adapter_.description.chain;
  CacheNeeds needs;
  needs.batch_size = static_cast<std::int64_t>(sizes.round_to);
  // A data set of unknown length is no limit.
  needs.data_set_samples = chain.samples == 0 ? ~std::uint64_t{0} : chain.samples;
  // Each worker keeps a cache of its own, and has several batches in flight.
  needs.wanted_samples = static_cast<double>(sizes.samples_in_flight + 2 * sizes.round_to);
  for (std::size_t b = 1; b <= chain.stages.size(); ++b) {
    const bool on_host =
        chain.stages[b - 1].held == Held::host || chain.device_kind == DeviceKind::cpu;
    (on_host ? needs.host_bytes_per_sample : needs.device_bytes_per_sample) += sizes.item_bytes[b];
  }
  // The memory of this machine is no limit on another: RanksReplayer asks for that one's.
  const AvailableMemory memory = adapter_.node ? AvailableMemory{} : available_memory();
  needs.host_budget_bytes = budget.host_bytes.value_or(kHostCacheShare * memory.spare_bytes);
  needs.host_memory_bytes = memory.available_bytes;
  needs.device_budget_bytes = budget.device_bytes;
  if (const auto& free = sizes.device_free_bytes) {
    needs.device_budget_bytes = std::min(budget.device_bytes.value_or(kDeviceShare * *free), *free);
  }
  return needs;
}

CacheFacts RemoteReplayer::prepare(const CacheBudget& budget, const std::stop_token& stop) {
  const ChainDescription& chain = adapter_.description.chain;
  AdapterConnection& connection = *adapter_.connection;
  const json sizes = connection.request({{"type", "sizes"}, {"samples", kProbedSamples}}, stop);
  needs_ = needs(read_sizes(sizes, chain), budget);
  const CacheSize size = choose_cache_size(needs_);
  const json answer =
      connection.request({{"type", "prepare"},
                          {"samples", size.samples},
                          {"host_bytes", host_limit(needs_)},
                          {"device_bytes", number_or_null(needs_.device_budget_bytes)},
                          {"keeps_queues", chain.keeps_queues}},
                         stop);
  std::optional<CacheFacts> facts = read_cache(answer, chain);
  if (!facts) Fields(answer, "the answer to 'prepare'").refuse("cache", "an object");
  if (facts->limited_by.empty()) facts->limited_by = size.limited_by;
  facts->most_samples = most_samples(needs_);
  return *std::move(facts);
}

std::optional<CacheFacts> RemoteReplayer::refill(std::uint64_t samples,
                                                 const std::stop_token& stop) {
  const auto count = static_cast<double>(samples);
  if (count * needs_.host_bytes_per_sample > host_limit(needs_)) return std::nullopt;
  if (count * needs_.device_bytes_per_sample > needs_.device_budget_bytes.value_or(HUGE_VAL)) {
    return std::nullopt;
  }
  const json answer =
      adapter_.connection->request({{"type", "refill"}, {"samples", samples}}, stop);
  return read_cache(answer, adapter_.description.chain);
}

std::uint64_t RemoteReplayer::fresh_samples(std::uint64_t wanted) const {
  CacheNeeds needs = needs_;
  needs.wanted_samples = static_cast<double>(wanted);
  return choose_cache_size(needs).samples;
}

bool RemoteReplayer::freshen(std::uint64_t samples, const std::stop_token& stop) {
  const json answer = adapter_.connection->request(
      {{"type", "freshen"}, {"samples", fresh_samples(samples)}}, stop);
  return Fields(answer, "the answer to 'freshen'").flag("freshened");
}

void RemoteReplayer::set_keeps_queues(bool keeps) noexcept {
  adapter_.description.chain.keeps_queues = keeps;
}

void RemoteReplayer::begin_round() {
  static_cast<void>(adapter_.connection->request({{"type", "begin_round"}}, stop_));
}

BlockResult RemoteReplayer::run(const BlockRequest& request, const std::stop_token& stop) {
  try {
    const json answer = adapter_.connection->request(run_request(request), stop);
    return read_block(answer, adapter_.description.chain);
  } catch (const Error& error) {
    const bool stopped = error.kind() == ErrorKind::interrupted;
    if (!stopped && request.arm.overrides.empty()) failure_ = std::current_exception();
    throw;
  }
}

std::optional<StorageCounts> RemoteReplayer::count_storage(const StorageRequest& request,
                                                           const std::stop_token& stop) {
  return read_storage(adapter_.connection->request(
      {{"type", "storage"}, {"samples", request.samples}, {"max_seconds", request.max_seconds}},
      stop));
}

void RemoteReplayer::check_running() const {
  if (failure_) std::rethrow_exception(failure_);
}

double RemoteReplayer::clock() const {
  return adapter_.connection->clock().value_or(monotonic_seconds());
}

MachineReading RemoteReplayer::read_machine() const {
  if (const auto simulated = adapter_.connection->clock()) {
    MachineReading reading;
    reading.seconds = *simulated;
    return reading;
  }
  MachineReading reading = Replayer::read_machine();
  try {
    const json answer = adapter_.connection->request({{"type", "machine"}}, stop_);
    own_cpu_seconds_ = Fields(answer, "the answer to 'machine'").amount("own_cpu_seconds");
  } catch (const Error&) {
    // The last reading of a run that was stopped, or whose process has ended.
  }
  reading.own_cpu_seconds += own_cpu_seconds_;
  return reading;
}

AttachedReplayer::Inside RemoteReplayer::look_inside(const std::string& stage) {
  const json answer = adapter_.connection->request(
      {{"type", "inside"}, {"stage", stage}, {"samples", kProfiledSamples}}, stop_);
  const Fields fields(answer, "the answer to 'inside'");
  if (!fields.has("chain")) return {false, fields.texts_or_empty("notes")};
  adapter_.description = read_description(answer);
  return {true, adapter_.description.notes};
}

bool RemoteReplayer::finish(bool exit, int exit_code, const std::string& text) noexcept {
  return adapter_.connection->finish(exit, exit_code, text);
}

}  // namespace cachebisect
