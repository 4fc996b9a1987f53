#include "cachebisect/remote/relay_work.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

#include "cachebisect/base/current_error.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/machine_watch.hpp"
#include "cachebisect/remote/ask_all.hpp"
#include "cachebisect/remote/fields.hpp"
#include "cachebisect/remote/join_messages.hpp"
#include "cachebisect/remote/messages.hpp"
#include "cachebisect/remote/node_counters.hpp"

namespace cachebisect {
namespace {

using nlohmann::json;

Error as_error(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (...) {
    return current_error(ErrorKind::internal);
  }
}

}  // namespace

RelayWork::RelayWork(Post post, std::uint64_t id, NodeAsk ask, RelayedProcesses& processes)
    : post_(std::move(post)), id_(id), ask_(std::move(ask)) {
  for (std::size_t g = 0; g < ask_.groups.size(); ++g) {
    for (const std::uint64_t number : ask_.groups[g].processes) {
      const auto found = std::ranges::find(processes, number, &RelayedProcess::number);
      if (found == processes.end()) {
        missing_ = number;
      } else {
        ranks_.push_back({&*found, g});
      }
    }
  }
}

std::vector<RelayedProcess*> RelayWork::take_over() {
  std::vector<RelayedProcess*> taken;
  for (const Rank& rank : ranks_) {
    AdapterConnection& connection = rank.process->connection;
    rank.process->asked = true;
    connection.skip_ids(ask_.last_id);
    connection.set_answer_limit(ask_.answer_seconds);
    connection.set_busy_callback([this](const std::string& text) {
      send({{"type", "busy"}, {"text", text}}, false);
    });
    taken.push_back(rank.process);
  }
  return taken;
}

void RelayWork::run(const std::stop_token& stop) {
  json last;
  try {
    last = type() == "finish" ? finish() : ask_ranks(stop);
  } catch (const Error& error) {
    last = {{"failed", to_json(NodeFailure{missing_.value_or(0), error})}};
  }
  if (failure_told_) {
    post_({}, true);
  } else {
    send(std::move(last), true);
  }
}

std::string RelayWork::type() const {
  return ask_.requests.empty() ? "" : ask_.requests.front().at("type").get<std::string>();
}

void RelayWork::send(json message, bool last) {
  message["id"] = id_;
  message.emplace("type", "ask");
  std::string line = line_of(message);
  if (line.size() >= kMaxMessageBytes) {
    const std::string text =
        "the answers of a node are longer than " + std::to_string(kMaxMessageBytes) + " bytes";
    line = line_of({{"id", id_},
                    {"type", "ask"},
                    {"failed", {{"process", 0}, {"kind", "internal"}, {"text", text}}}});
  }
  post_(std::move(line), last);
}

json RelayWork::ask_ranks(const std::stop_token& stop) {
  if (missing_) {
    throw Error(ErrorKind::data, "the training process ended the connection; see its own messages");
  }
  if (ranks_.empty()) return json::object();
  std::vector<AdapterConnection*> connections;
  for (const Rank& rank : ranks_) connections.push_back(&rank.process->connection);
  AskAll all(std::move(connections));
  all.set_failure_callback([this](std::size_t i, const std::exception_ptr& error) {
    failure_told_ = true;
    send({{"failed", failure_of(i, error)}}, false);
  });
  AskAll::Answers answers =
      all.ask([this](std::size_t i) { return ask_.requests[ranks_[i].group]; }, stop);
  for (std::size_t i = 0; i < answers.errors.size(); ++i) {
    if (answers.errors[i]) return {{"failed", failure_of(i, answers.errors[i])}};
  }
  return joined(answers.values);
}

json RelayWork::failure_of(std::size_t i, const std::exception_ptr& error) const {
  return to_json(NodeFailure{ranks_[i].process->number, as_error(error)});
}

/// The answers of all ranks as one.
json RelayWork::joined(const std::vector<json>& answers) {
  json answer = type() == "run"       ? joined_blocks(answers)
                : type() == "freshen" ? joined_flags(answers, "freshened")
                : type() == "machine" ? joined_counters(answers)
                                      : json::object();
  std::optional<double> clock;
  for (const Rank& rank : ranks_) {
    if (const auto own = rank.process->connection.clock()) {
      clock = std::max(*own, clock.value_or(*own));
    }
  }
  if (clock) answer["clock"] = *clock;
  return answer;
}

/// Calls `read(i)` for each rank, and names the one whose answer is wrong.
template <class Read>
void RelayWork::read_all(const Read& read) {
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    try {
      read(i);
    } catch (const Error&) {
      missing_ = ranks_[i].process->number;
      throw;
    }
  }
}

json RelayWork::joined_blocks(const std::vector<json>& answers) {
  std::vector<BlockPart> parts;
  read_all([&](std::size_t i) {
    const int number = static_cast<int>(ranks_[i].process->number);
    parts.push_back(part_of_rank(read_block(answers[i], ask_.stages), number,
                                 ask_.groups[ranks_[i].group].has_loader));
  });
  return to_json(join_parts(parts));
}

json RelayWork::joined_flags(const std::vector<json>& answers, const char* key) {
  bool all = true;
  read_all([&](std::size_t i) {
    all = Fields(answers[i], "the answer to '" + type() + "'").flag(key) && all;
  });
  return {{key, all}};
}

/// Those of this machine; the ranks are its own processes.
json RelayWork::joined_counters(const std::vector<json>& answers) {
  MachineReading counters = read_machine();
  counters.own_cpu_seconds += own_cpu_seconds_of(answers);
  return counters_json(counters);
}

/// Whether all have taken note, or have ended.
json RelayWork::finish() {
  const Fields request(ask_.requests.front(), "a request for ranks");
  const bool exit = request.text("then") == "exit";
  const int code = request.small_count("exit_code");
  const std::string text = request.text("text");
  std::vector<char> told(ranks_.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      threads.emplace_back([&, i] {
        told[i] = static_cast<char>(ranks_[i].process->connection.finish(exit, code, text));
      });
    }
  }
  return {{"told", std::ranges::all_of(told, [](char one) { return one != 0; })}};
}

}  // namespace cachebisect
