#include "cachebisect/remote/node_ask.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "cachebisect/remote/fields.hpp"
#include "cachebisect/remote/messages.hpp"

namespace cachebisect {
namespace {

using nlohmann::json;

/// More than any chain has.
constexpr std::size_t kMostStages = 10'000;

std::vector<std::uint64_t> processes_of(const Fields& group) {
  std::vector<std::uint64_t> processes;
  for (const int process : group.small_counts("processes")) {
    processes.push_back(static_cast<std::uint64_t>(process));
  }
  return processes;
}

}  // namespace

json to_json(NodeAsk ask) {
  json groups = json::array();
  for (std::size_t g = 0; g < ask.groups.size(); ++g) {
    // Assigned, because initializer lists copy.
    json group = json::object();
    group["processes"] = ask.groups[g].processes;
    group["loader"] = ask.groups[g].has_loader;
    group["request"] = std::move(ask.requests[g]);
    groups.push_back(std::move(group));
  }
  json message{{"type", "ask"},
               {"last_id", ask.last_id},
               {"answer_seconds", ask.answer_seconds},
               {"stages", ask.stages}};
  message["groups"] = std::move(groups);
  return message;
}

NodeAsk read_node_ask(const json& request) {
  const Fields fields(request, "a request for ranks");
  NodeAsk ask;
  ask.last_id = fields.count("last_id");
  ask.answer_seconds = fields.amount("answer_seconds");
  ask.stages = fields.count("stages");
  if (ask.stages > kMostStages) fields.refuse("stages", "at most " + std::to_string(kMostStages));
  for (const Fields& group : fields.objects_or_empty("groups")) {
    ask.groups.push_back({.processes = processes_of(group), .has_loader = group.flag("loader")});
    static_cast<void>(group.object("request").text("type"));
    ask.requests.push_back(group.value("request"));
  }
  return ask;
}

json to_json(const NodeFailure& failure) {
  json object = error_json(failure.error);
  object["process"] = failure.process;
  return object;
}

std::optional<NodeFailure> read_failure(const json& answer) {
  const Fields fields(answer, "the answer to 'ask'");
  if (!fields.has("failed")) return std::nullopt;
  const Fields failed = fields.object("failed");
  return NodeFailure{failed.count("process"), read_error(fields.value("failed"))};
}

json to_json(const BlockPart& part) {
  json object{{"loaders", part.loaders},
              {"slowest", part.slowest},
              {"slowest_seconds", part.slowest_seconds}};
  object["block"] = block_json(part.block);
  if (part.next_starved_seconds) object["next_starved_seconds"] = *part.next_starved_seconds;
  return object;
}

BlockPart read_block_part(const json& answer, std::size_t stages) {
  const Fields fields(answer, "the answer to 'ask'");
  BlockPart part{.block = read_block(answer, stages),
                 .loaders = fields.small_count("loaders"),
                 .slowest = fields.small_count("slowest"),
                 .slowest_seconds = fields.amount("slowest_seconds")};
  if (fields.has("next_starved_seconds")) {
    part.next_starved_seconds = fields.amount("next_starved_seconds");
  }
  return part;
}

}  // namespace cachebisect
