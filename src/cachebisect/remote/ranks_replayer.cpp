#include "cachebisect/remote/ranks_replayer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/machine.hpp"
#include "cachebisect/base/machine_watch.hpp"
#include "cachebisect/remote/combine_ranks.hpp"
#include "cachebisect/remote/fields.hpp"
#include "cachebisect/remote/job_nodes.hpp"
#include "cachebisect/remote/messages.hpp"
#include "cachebisect/remote/node_counters.hpp"

namespace cachebisect {
namespace {

using nlohmann::json;

bool is_interruption(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& known) {
    return known.kind() == ErrorKind::interrupted;
  } catch (...) {
    return false;
  }
}

/// With the name of the rank.
std::exception_ptr error_of_rank(const std::string& name) {
  try {
    throw;
  } catch (const Error& error) {
    return std::make_exception_ptr(error.with_context(name));
  } catch (...) {
    return std::current_exception();
  }
}

/// The error that stopped the others; empty if all is well.
std::exception_ptr cause_of(const std::vector<std::exception_ptr>& errors) {
  std::exception_ptr cause;
  for (const std::exception_ptr& error : errors) {
    if (error && (!cause || is_interruption(cause))) cause = error;
  }
  return cause;
}

template <class Item>
bool all_true(const std::vector<Item>& answers) {
  return std::ranges::all_of(answers, [](Item answer) { return answer != Item{}; });
}

}  // namespace

RanksReplayer::RanksReplayer(std::vector<AttachedAdapter> adapters, const std::stop_token& stop,
                             const std::string& own_node)
    : own_node_(own_node), on_stop_(stop, [this] { stop_all_.request_stop(); }) {
  std::vector<ChainDescription> chains;
  for (AttachedAdapter& adapter : adapters) {
    nodes_.push_back(adapter.node);
    ranks_.push_back(std::make_unique<RemoteReplayer>(std::move(adapter), stop_all_.get_token()));
    if (!ranks_.back()->has_loader()) without_loader_.insert(chains.size());
    chains.push_back(ranks_.back()->describe());
  }
  chain_ = combine_chains(chains, probe_machine().usable_cpus, ranks_beside(nodes_));
  chain_.nodes = nodes_of(nodes_, own_node);
  std::vector<AskedRank> asked;
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    asked.push_back({&ranks_[r]->connection(), nodes_[r], ranks_[r]->process(), has_loader(r)});
  }
  asked_.emplace(std::move(asked), chain_.stages.size());
  for (const auto& rank : ranks_) {
    rank->set_keeps_queues(chain_.keeps_queues);
    settling_steps_ = std::max(settling_steps_, rank->settling_steps());
  }
}

RanksReplayer::~RanksReplayer() = default;

template <class Call>
auto RanksReplayer::on_loaders(const std::stop_token& stop, const Call& call) const {
  check_running();
  using Result = decltype(call(*ranks_.front(), 0, stop));
  const std::stop_callback link(stop, [this] { stop_all_.request_stop(); });
  std::vector<Result> results(ranks_.size() - without_loader_.size());
  std::vector<std::exception_ptr> errors(ranks_.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      if (!has_loader(r)) continue;
      const std::size_t place = threads.size();
      threads.emplace_back([&, r, place] {
        try {
          results[place] = call(*ranks_[r], static_cast<int>(r), stop_all_.get_token());
        } catch (...) {
          errors[r] = error_of_rank(name_of({r}));
          stop_all_.request_stop();
        }
      });
    }
  }
  check(errors);
  return results;
}

void RanksReplayer::check(const std::vector<std::exception_ptr>& errors) const {
  failure_ = cause_of(errors);
  check_running();
}

std::vector<AskRanks::Answer> RanksReplayer::ask_all(const AskRanks::Request& request,
                                                     const RankRange& freed,
                                                     const std::stop_token& stop) {
  check_running();
  const std::stop_callback link(stop, [this] { stop_all_.request_stop(); });
  std::vector<AskRanks::Answer> answers = asked_->ask(request, freed, stop_all_.get_token());
  std::vector<std::exception_ptr> errors;
  for (const AskRanks::Answer& answer : answers) {
    if (!answer.error) continue;
    try {
      std::rethrow_exception(answer.error);
    } catch (...) {
      errors.push_back(error_of_rank(name_of(answer.ranks)));
    }
  }
  check(errors);
  return answers;
}

template <class Read>
void RanksReplayer::read_all(const std::vector<AskRanks::Answer>& answers, const Read& read) const {
  for (const AskRanks::Answer& answer : answers) {
    try {
      read(answer);
    } catch (...) {
      check({error_of_rank(name_of(answer.ranks))});
    }
  }
}

bool RanksReplayer::supports(const Arm& arm) const {
  if (arm.ranks.end() > chain_.ranks || !has_loader(arm.ranks)) return false;
  if (!arm.ranks.is_all() && arm.kind != ArmKind::replay) return false;
  if (arm.kind != ArmKind::live) return supports_without_asking(arm);
  return all_true(
      on_loaders({}, [&](const RemoteReplayer& rank, int number, const std::stop_token&) {
        return static_cast<int>(rank.supports(arm_on_rank(arm, number)));
      }));
}

/// What the ranks have described tells.
bool RanksReplayer::supports_without_asking(const Arm& arm) const {
  check_running();
  const Arm freed = arm_of_part(arm, true);
  const Arm other = arm_of_part(arm, false);
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const bool is_freed = arm.ranks.holds(static_cast<int>(r));
    if (has_loader(r) && !ranks_[r]->supports(is_freed ? freed : other)) return false;
  }
  return true;
}

bool RanksReplayer::has_loader(const RankRange& ranks) const {
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    if (has_loader(r) && ranks.holds(static_cast<int>(r))) return true;
  }
  return false;
}

std::string RanksReplayer::why_unsupported(const Arm& arm) const {
  if (!arm.ranks.is_all()) return {};
  const auto reasons =
      on_loaders({}, [&](const RemoteReplayer& rank, int number, const std::stop_token&) {
        return rank.why_unsupported(arm_on_rank(arm, number));
      });
  const auto known =
      std::ranges::find_if(reasons, [](const std::string& why) { return !why.empty(); });
  return known == reasons.end() ? std::string() : *known;
}

CacheFacts RanksReplayer::prepare(const CacheBudget& budget, const std::stop_token& stop) {
  const std::vector<double> shares = memory_shares(budget, stop);
  return combine_caches(
      on_loaders(stop, [&](RemoteReplayer& rank, int number, const std::stop_token& stopped) {
        return rank.prepare({.host_bytes = shares[static_cast<std::size_t>(number)],
                             .device_bytes = budget.device_bytes},
                            stopped);
      }));
}

std::vector<double> RanksReplayer::memory_shares(const CacheBudget& budget,
                                                 const std::stop_token& stop) const {
  std::map<NodeConnection*, int> ranks;
  for (std::size_t r = 0; r < nodes_.size(); ++r) {
    if (has_loader(r)) ++ranks[nodes_[r].get()];
  }
  std::map<NodeConnection*, double> shares;
  for (const auto& [node, count] : ranks) {
    const AvailableMemory memory = node == nullptr ? available_memory() : node->memory(stop);
    const double whole = budget.host_bytes.value_or(kHostCacheShare * memory.spare_bytes);
    const bool limits = node != nullptr && memory.available_bytes > 0;
    shares[node] = (limits ? std::min(whole, memory.available_bytes) : whole) / count;
  }
  std::vector<double> by_rank;
  for (const auto& node : nodes_) by_rank.push_back(shares[node.get()]);
  return by_rank;
}

std::optional<CacheFacts> RanksReplayer::refill(std::uint64_t samples,
                                                const std::stop_token& stop) {
  const auto answers =
      on_loaders(stop, [&](RemoteReplayer& rank, int, const std::stop_token& stopped) {
        return rank.refill(samples, stopped);
      });
  std::vector<CacheFacts> caches;
  for (const auto& answer : answers) {
    if (!answer) return std::nullopt;
    caches.push_back(*answer);
  }
  return combine_caches(caches);
}

bool RanksReplayer::freshen(std::uint64_t samples, const std::stop_token& stop) {
  std::uint64_t fitting = ~std::uint64_t{0};
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    if (has_loader(r)) fitting = std::min(fitting, ranks_[r]->fresh_samples(samples));
  }
  const auto answers = ask_all(
      [&](bool, bool with_loader) {
        return with_loader ? json{{"type", "freshen"}, {"samples", fitting}} : json();
      },
      {}, stop);
  bool all = true;
  read_all(answers, [&](const AskRanks::Answer& answer) {
    all = Fields(*answer.value, "the answer to 'freshen'").flag("freshened") && all;
  });
  return all;
}

void RanksReplayer::begin_round() {
  ask_all([](bool, bool) { return json{{"type", "begin_round"}}; }, {}, {});
}

/// The ranks would not agree on when a time has passed.
BlockRequest RanksReplayer::in_steps(BlockRequest request) const {
  const auto known = step_seconds_.find(request.arm);
  if (request.max_seconds > 0 && known != step_seconds_.end()) {
    const int group = std::max(1, request.steps / std::max(1, request.groups));
    const double groups = request.max_seconds / known->second / group;
    if (groups < request.groups) {
      request.groups = std::max(1, static_cast<int>(groups));
      request.steps = group * request.groups;
    }
  }
  request.max_seconds = 0;
  return request;
}

int RanksReplayer::settling_of(Arm arm) {
  arm.observed = true;  // Both kinds go on with the same queue.
  return begun_.insert(std::move(arm)).second ? settling_steps_ : 0;
}

BlockResult RanksReplayer::run(const BlockRequest& request, const std::stop_token& stop) {
  const BlockRequest whole = in_steps(request);
  const double began = clock();
  const int settling = settling_of(whole.arm);
  const RankRange& freed = whole.arm.ranks;
  const auto request_of = [&](bool is_freed, bool with_loader) {
    BlockRequest own = whole;
    own.arm = arm_of_part(whole.arm, is_freed);
    json asked = run_request(own);
    asked["settling_steps"] = settling;
    if (!with_loader) {
      // It fits blocks into epochs as the others do.
      asked["group_steps"] = std::lcm(std::max(1, chain_.workers), chain_.batches_per_step);
    }
    // What a rank finds in its queue depends on what the others did meanwhile.
    if (!freed.is_all()) asked["arm"]["ranks"] = {freed.first, freed.count};
    return asked;
  };
  std::vector<BlockPart> parts;
  read_all(ask_all(request_of, freed, stop), [&](const AskRanks::Answer& answer) {
    parts.push_back(asked_->block_of(answer));
    // Another machine counts its time from another moment.
    if (!is_here(answer.ranks.front())) parts.back().block.start_seconds = began;
  });
  BlockResult block = whole_block(parts);
  if (block.steps > 0 && block.seconds > 0) {
    step_seconds_[request.arm] = block.seconds / block.steps;
  }
  return block;
}

std::optional<StorageCounts> RanksReplayer::count_storage(const StorageRequest& request,
                                                          const std::stop_token& stop) {
  return combine_storage(
      on_loaders(stop, [&](RemoteReplayer& rank, int, const std::stop_token& stopped) {
        return rank.count_storage(request, stopped);
      }));
}

double RanksReplayer::clock() const {
  double latest = 0;
  for (const auto& rank : ranks_) {
    if (rank->has_loader()) latest = std::max(latest, rank->clock());
  }
  // Where time is simulated, relays tell that of what they have asked.
  for (const auto& node : nodes_) {
    if (node) latest = std::max(latest, node->connection().clock().value_or(0));
  }
  return latest;
}

MachineReading RanksReplayer::read_machine() const {
  const double engine = cachebisect::read_machine().own_cpu_seconds;
  const auto first = std::ranges::find(nodes_, nullptr) - nodes_.begin();
  if (first == std::ssize(nodes_)) return cachebisect::read_machine();
  MachineReading reading = ranks_[static_cast<std::size_t>(first)]->read_machine();
  for (auto r = static_cast<std::size_t>(first) + 1; r < ranks_.size(); ++r) {
    if (!is_here(r)) continue;
    const double own = ranks_[r]->read_machine().own_cpu_seconds;
    reading.own_cpu_seconds += std::max(0.0, own - engine);
  }
  return reading;
}

std::vector<NodeReading> RanksReplayer::read_other_nodes() {
  const bool simulated = std::ranges::any_of(
      ranks_, [](const auto& rank) { return rank->connection().clock().has_value(); });
  if (!has_other_nodes() || simulated || failure_ || stop_all_.stop_requested()) return {};
  std::vector<NodeReading> readings;
  try {
    const auto answers = ask_all([](bool, bool) { return json{{"type", "machine"}}; }, {}, {});
    read_all(answers, [&](const AskRanks::Answer& answer) {
      const auto& node = nodes_[answer.ranks.front()];
      if (!node) return;
      if (const auto counters = read_counters(*answer.value)) {
        readings.push_back({node->name(), *counters});
      }
    });
  } catch (const Error&) {
    // Kept: the next block tells.
  }
  return readings;
}

bool RanksReplayer::has_other_nodes() const {
  return std::ranges::any_of(nodes_, [](const auto& node) { return node != nullptr; });
}

std::string RanksReplayer::name_of(const std::vector<std::size_t>& ranks) const {
  std::string name = name_of_ranks(ranks);
  if (!has_other_nodes()) return name;
  const auto& node = nodes_[ranks.front()];
  return "node " + (node ? node->name() : own_node_) + ", " + name;
}

AttachedReplayer::Inside RanksReplayer::look_inside(const std::string& /*stage*/) {
  return {false,
          {"--inside: not possible with several ranks; mark functions with @cachebisect.stage, or "
           "run one rank"}};
}

void RanksReplayer::check_running() const {
  if (failure_) std::rethrow_exception(failure_);
}

bool RanksReplayer::finish(bool exit, int exit_code, const std::string& text) noexcept {
  return asked_->finish(exit, exit_code, text);
}

std::unique_ptr<AttachedReplayer> make_replayer(std::vector<AttachedAdapter> adapters,
                                                const std::stop_token& stop,
                                                const std::string& own_node) {
  // That of one process does not know of other machines.
  if (adapters.size() > 1 || adapters.front().node) {
    return std::make_unique<RanksReplayer>(std::move(adapters), stop, own_node);
  }
  return std::make_unique<RemoteReplayer>(std::move(adapters.front()), stop);
}

}  // namespace cachebisect
