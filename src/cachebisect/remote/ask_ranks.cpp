#include "cachebisect/remote/ask_ranks.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/remote/fields.hpp"
#include "cachebisect/remote/messages.hpp"
#include "cachebisect/remote/node_ask.hpp"

namespace cachebisect {
namespace {

using nlohmann::json;

/// Kinds of ranks: freed or not, with a loader or without.
constexpr std::size_t kRankKinds = 4;
/// For what a relay has to do until all its ranks have taken note of the end, or are given up.
constexpr double kNodeFinishSeconds = 8;

/// Whether all ranks of a node have taken note of the end, or have ended.
bool node_has_finished(AdapterConnection& connection) {
  try {
    const json answer = connection.await_open(kNodeFinishSeconds, {});
    return Fields(answer, "the answer to 'ask'").flag_or("told", false);
  } catch (const Error&) {
    return connection.is_closed();
  }
}

}  // namespace

/// The requests by kind of rank.
class AskRanks::Requests {
 public:
  Requests(const Request& make, const RankRange& freed) : make_(make), freed_(freed) {}

  [[nodiscard]] std::size_t kind_of(const AskedRank& rank, std::size_t number) const {
    return (freed_.holds(static_cast<int>(number)) ? 2U : 0U) + (rank.has_loader ? 1U : 0U);
  }
  static bool is_of_loader(std::size_t kind) noexcept { return kind % 2 == 1; }

  const json& of(std::size_t kind) {
    auto& known = by_kind_.at(kind);
    if (!known) known = std::make_unique<json>(make_(kind >= 2, is_of_loader(kind)));
    return *known;
  }

 private:
  const Request& make_;
  RankRange freed_;
  std::array<std::unique_ptr<json>, kRankKinds> by_kind_;
};

AskRanks::AskRanks(std::vector<AskedRank> ranks, std::size_t stages)
    : ranks_(std::move(ranks)), stages_(stages) {
  std::vector<Asked> nodes;
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const auto& node = ranks_[r].node;
    const auto known = std::ranges::find(nodes, node, &Asked::node);
    if (!node) {
      asked_.push_back({nullptr, {r}});
    } else if (known == nodes.end()) {
      nodes.push_back({node, {r}});
    } else {
      known->ranks.push_back(r);
    }
  }
  for (const Asked& node : nodes) {
    const AdapterConnection* rank = ranks_[node.ranks.front()].connection;
    node.node->connection().set_answer_limit(rank->answer_limit());
  }
  asked_.insert(asked_.end(), nodes.begin(), nodes.end());
  std::vector<AdapterConnection*> connections;
  for (const Asked& asked : asked_) connections.push_back(connection_of(asked));
  all_.emplace(std::move(connections), nodes.size());
}

AdapterConnection* AskRanks::connection_of(const Asked& asked) const {
  return asked.node ? &asked.node->connection() : ranks_[asked.ranks.front()].connection;
}

std::vector<AskRanks::Answer> AskRanks::ask(const Request& request, const RankRange& freed,
                                            const std::stop_token& stop) {
  Requests requests(request, freed);
  const auto request_of = [&](std::size_t i) -> json {
    const Asked& asked = asked_[i];
    if (asked.node) return node_request(asked, requests);
    const std::size_t rank = asked.ranks.front();
    return requests.of(requests.kind_of(ranks_[rank], rank));
  };
  AskAll::Answers all = all_->ask(request_of, stop);
  std::vector<Answer> answers;
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    if (!all.errors[i] && all.values[i].is_null()) continue;
    answers.push_back(answer_of(asked_[i], std::move(all.values[i]), all.errors[i]));
  }
  std::ranges::sort(answers, {}, [](const Answer& one) { return one.ranks.front(); });
  return answers;
}

json AskRanks::node_request(const Asked& asked, Requests& requests) const {
  std::array<NodeAskGroup, kRankKinds> groups;
  NodeAsk ask{.answer_seconds = connection_of(asked)->answer_limit(), .stages = stages_};
  for (const std::size_t rank : asked.ranks) {
    groups.at(requests.kind_of(ranks_[rank], rank)).processes.push_back(ranks_[rank].process);
    ask.last_id = std::max(ask.last_id, ranks_[rank].connection->last_id());
  }
  for (const std::size_t rank : asked.ranks) ranks_[rank].connection->skip_ids(ask.last_id + 1);
  for (std::size_t kind = 0; kind < kRankKinds; ++kind) {
    if (groups.at(kind).processes.empty() || requests.of(kind).is_null()) continue;
    groups.at(kind).has_loader = Requests::is_of_loader(kind);
    ask.groups.push_back(std::move(groups.at(kind)));
    ask.requests.push_back(requests.of(kind));
  }
  return ask.groups.empty() ? json() : to_json(std::move(ask));
}

AskRanks::Answer AskRanks::answer_of(const Asked& asked, json value,
                                     const std::exception_ptr& error) const {
  if (error) return {asked.ranks, nullptr, error};
  Answer answer{asked.ranks, std::make_shared<const json>(std::move(value)), nullptr};
  if (!asked.node) return answer;
  try {
    const auto failure = read_failure(*answer.value);
    if (!failure) return answer;
    answer.error = std::make_exception_ptr(failure->error);
    if (const auto rank = rank_of(asked.ranks, failure->process)) answer.ranks = {*rank};
  } catch (const Error&) {
    answer.error = std::current_exception();
  }
  return answer;
}

std::optional<std::size_t> AskRanks::rank_of(const std::vector<std::size_t>& ranks,
                                             std::uint64_t process) const {
  const auto found = std::ranges::find_if(
      ranks, [&](std::size_t rank) { return ranks_[rank].process == process; });
  return found == ranks.end() ? std::nullopt : std::optional(*found);
}

BlockPart AskRanks::block_of(const Answer& answer) const {
  const std::size_t first = answer.ranks.front();
  if (!ranks_[first].node) {
    return part_of_rank(read_block(*answer.value, stages_), static_cast<int>(first),
                        ranks_[first].has_loader);
  }
  BlockPart part = read_block_part(*answer.value, stages_);
  const auto slowest = rank_of(answer.ranks, static_cast<std::uint64_t>(part.slowest));
  if (!slowest) {
    Fields(*answer.value, "the answer to 'ask'").refuse("slowest", "a process of the node");
  }
  part.slowest = static_cast<int>(*slowest);
  return part;
}

bool AskRanks::finish(bool exit, int exit_code, const std::string& text) noexcept {
  bool all = true;
  try {
    const Request request = [&](bool, bool) { return finish_request(exit, exit_code, text); };
    Requests requests(request, {});
    std::vector<AdapterConnection*> nodes;
    for (const Asked& asked : asked_) {
      if (!asked.node) continue;
      try {
        connection_of(asked)->send(node_request(asked, requests));
        nodes.push_back(connection_of(asked));
      } catch (const Error&) {
        // The relay has ended: so have the connections of its processes.
      }
    }
    for (const Asked& asked : asked_) {
      if (!asked.node) all = connection_of(asked)->finish(exit, exit_code, text) && all;
    }
    for (AdapterConnection* node : nodes) all = node_has_finished(*node) && all;
  } catch (...) {
    return false;
  }
  return all;
}

}  // namespace cachebisect
