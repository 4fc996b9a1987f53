// An adapter without a training process: answers the engine from any Replayer, and breaks the
// protocol where a test wants it to.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "support/adapter_json.hpp"
#include <sys/socket.h>
#include <unistd.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/file_descriptor.hpp"

namespace cachebisect::test {

/// What an adapter does instead of answering as it should.
enum class Fault {
  none,
  silent,      ///< until the engine sends something else
  busy_first,  ///< a busy message before the answer
  truncated,   ///< half of the answer, then the end of the connection
  closed,      ///< the end of the connection
  too_long,    ///< more than a message may have
  no_newline,  ///< the same without an end
  not_json,
  too_deep,       ///< lists within lists
  wrong_type,     ///< the type of another request
  wrong_field,    ///< a field of another type
  missing_field,  ///< an answer without its fields
  future_id,
  stale_first,    ///< an answer to an older request first
  unknown_field,  ///< one field more, which the engine does not know
  error,          ///< an error of a stage
};

struct FaultPlan {
  Fault fault = Fault::none;
  std::string type = "run";  ///< of the request
  int nth = 0;               ///< of this type, from 0
};

class FakeAdapter {
 public:
  /// `replayer` may be null for an adapter that never describes a loader. `socket`: connected.
  FakeAdapter(Replayer* replayer, FileDescriptor socket, FaultPlan fault = {})
      : plan(std::move(fault)), replayer_(replayer), socket_(std::move(socket)) {}

  /// Called with the type of each request before it is answered.
  std::function<void(const std::string& type)> on_request{};
  /// The same with the whole request.
  std::function<void(const nlohmann::json& request)> on_message{};
  FaultPlan plan;
  int protocol = 1;
  int rank = 0;
  int world = 1;
  std::string program = "fake";
  std::optional<std::string> python{};  ///< version
  nlohmann::json settings{};            ///< members of the answer to `describe`
  /// False: a rank that takes part in every step and has no chain of its own.
  bool has_loader = true;
  /// Sends `clock`, as an adapter does that simulates time.
  bool simulates_time = true;
  /// That many `stop` do not interrupt it.
  int missed_stops = 0;
  /// What it measures once it was asked to look inside a stage; null: it finds nothing.
  Replayer* inside = nullptr;
  nlohmann::json finish{};  ///< the request, once it has come

  /// Answers until the engine sends `finish` or closes the connection, or a fault closes it.
  void serve() {
    while (socket_.is_open() && finish.is_null()) {
      const std::optional<std::string> line = read_line();
      if (!line) break;
      handle(nlohmann::json::parse(*line));
    }
    socket_.close();
  }

 private:
  void handle(const nlohmann::json& request) {
    const std::string type = request.at("type");
    if (on_request) on_request(type);
    if (on_message) on_message(request);
    if (type == "stop" && missed_stops-- > 0) return;
    if (type == "stop") return answer_open();
    const bool faulty = type == plan.type && plan.fault != Fault::none && seen_++ == plan.nth;
    if (faulty && plan.fault == Fault::closed) return static_cast<void>(socket_.close());
    if (type == "describe" && replayer_ == nullptr) return;
    nlohmann::json answer = answer_to(type, request);
    answer["type"] = answer.value("type", type);
    answer["id"] = request.at("id");
    if (simulates_time && replayer_ != nullptr) answer["clock"] = replayer_->clock();
    if (faulty) return misbehave(std::move(answer));
    send(answer.dump() + "\n");
  }

  /// The request that a silent adapter has left open, after `stop`.
  void answer_open() {
    if (open_.is_null()) return;
    send(nlohmann::json{
             {"id", open_["id"]}, {"type", "error"}, {"kind", "interrupted"}, {"text", "stopped"}}
             .dump() +
         "\n");
    open_ = nullptr;
  }

  nlohmann::json answer_to(const std::string& type, const nlohmann::json& request) {
    try {
      return type == "hello" ? hello() : type == "describe" ? describe() : measure(type, request);
    } catch (const Error& error) {
      return {{"type", "error"}, {"kind", "data"}, {"text", error.what()}};
    }
  }

  nlohmann::json hello() const {
    return {{"protocol", protocol},
            {"adapter", "fake 1"},
            {"pid", getpid()},
            {"rank", rank},
            {"world", world},
            {"program", program},
            {"python", python ? nlohmann::json(*python) : nlohmann::json(nullptr)}};
  }

  nlohmann::json describe() const {
    if (!has_loader) return {{"chain", {{"loader", "none"}}}};
    const ChainDescription chain = replayer_->describe();
    const int last = static_cast<int>(chain.stages.size());
    nlohmann::json boundaries = nlohmann::json::array();
    nlohmann::json stages = nlohmann::json::array();
    nlohmann::json unseen = nlohmann::json::array();
    for (int k = 0; k <= last; ++k) {
      if (replayer_->supports({.kind = ArmKind::unseen, .boundary = k})) unseen.push_back(k);
      if (replayer_->supports({.boundary = k})) boundaries.push_back(k);
      if (replayer_->supports({.kind = ArmKind::bypass, .stage = k})) stages.push_back(k);
    }
    nlohmann::json arms{{{"kind", "replay"}, {"boundaries", boundaries}},
                        {{"kind", "bypass"}, {"stages", stages}},
                        {{"kind", "unseen"}, {"boundaries", unseen}},
                        {{"kind", "live"}}};
    if (replayer_->supports({.kind = ArmKind::shadow})) arms.push_back({{"kind", "shadow"}});
    nlohmann::json answer{{"chain", to_json(chain)}, {"arms", arms}};
    answer.update(settings.is_null() ? nlohmann::json::object() : settings);
    return answer;
  }

  nlohmann::json sizes() const {
    const ChainDescription chain = replayer_->describe();
    nlohmann::json bytes{0};
    for (const StageDescription& stage : chain.stages) {
      bytes.push_back(stage.output_bytes.value_or(0));
    }
    return {{"item_bytes", bytes},
            {"samples_in_flight", chain.ring_slots * chain.batch_size},
            {"device_free_bytes", 1e12}};
  }

  /// As long as the steps of the others take, and longer than none of them.
  static nlohmann::json block_without_samples(const nlohmann::json& request) {
    BlockResult block;
    block.steps = request.at("steps");
    block.warmup_steps = request.at("warmup_steps");
    block.seconds = 1e-6 * block.steps;
    return to_json(block);
  }

  nlohmann::json measure(const std::string& type, const nlohmann::json& request) {
    if (!has_loader && type == "run") return {{"block", block_without_samples(request)}};
    if (!has_loader && type == "begin_round") return nlohmann::json::object();
    if (type == "supports") {
      const Arm arm = arm_of(request.at("arm"));
      return {{"supported", replayer_->supports(arm)}, {"why", replayer_->why_unsupported(arm)}};
    }
    if (type == "sizes") return sizes();
    if (type == "prepare") return {{"cache", to_json(replayer_->prepare({}, {}))}};
    if (type == "refill") {
      const auto facts = replayer_->refill(request.at("samples"), {});
      return {{"cache", facts ? to_json(*facts) : nlohmann::json(nullptr)}};
    }
    if (type == "freshen") {
      return {{"freshened", replayer_->freshen(request.at("samples"), {})}};
    }
    if (type == "storage") {
      const auto counts = replayer_->count_storage(
          {.samples = request.at("samples"), .max_seconds = request.at("max_seconds")}, {});
      return {{"storage", counts ? to_json(*counts) : nlohmann::json(nullptr)}};
    }
    if (type == "inside") return look_inside();
    if (type == "begin_round") replayer_->begin_round();
    if (type == "run") return {{"block", to_json(replayer_->run(block_request_of(request), {}))}};
    if (type == "machine") return {{"own_cpu_seconds", 1.5}};
    if (type == "finish") finish = request;
    return nlohmann::json::object();
  }

  nlohmann::json look_inside() {
    if (inside == nullptr) return {{"chain", nullptr}, {"notes", {"no function takes long"}}};
    replayer_ = inside;
    return describe();
  }

  void misbehave(nlohmann::json answer) {
    constexpr std::size_t kTooLong = std::size_t{2} << 20U;
    const nlohmann::json id = answer["id"];
    switch (plan.fault) {
      case Fault::none:
      case Fault::closed:  // without an answer
        return;
      case Fault::silent:
        open_ = answer;
        return;
      case Fault::truncated:
        send(answer.dump().substr(0, answer.dump().size() / 2));
        static_cast<void>(socket_.close());
        return;
      case Fault::too_long:
        answer["text"] = std::string(kTooLong, 'x');
        break;
      case Fault::no_newline:
        return send(std::string(kTooLong, 'x'));
      case Fault::not_json:
        return send("{\"id\": 1, \"type\": \"run\", NaN}\n");
      case Fault::too_deep:
        return send("{\"a\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}\n");
      case Fault::busy_first:
        send(nlohmann::json{{"id", id}, {"type", "busy"}, {"text", "half"}}.dump() + "\n");
        break;
      case Fault::wrong_type:
        answer["type"] = "machine";
        break;
      case Fault::wrong_field:
        answer["block"]["seconds"] = "0.5";
        break;
      case Fault::missing_field:
        answer = {{"id", id}, {"type", plan.type}};
        break;
      case Fault::future_id:
        answer["id"] = 1'000'000;
        break;
      case Fault::stale_first:
        send(nlohmann::json{{"id", 1}, {"type", "hello"}}.dump() + "\n");
        break;
      case Fault::unknown_field:
        answer["next"] = {{"version", 2}};
        break;
      case Fault::error:
        answer = {
            {"id", id},
            {"type", "error"},
            {"kind", "data"},
            {"stage", "crop"},
            {"sample", 42},
            {"text", "ValueError: bad crop"},
            {"traceback", {"  File \"crop.py\", line 7, in __call__", "ValueError: bad crop"}}};
        break;
    }
    send(answer.dump() + "\n");
  }

  void send(const std::string& text) {
    std::string_view rest = text;
    while (!rest.empty()) {
      const ssize_t sent = ::send(socket_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent <= 0) return static_cast<void>(socket_.close());
      rest.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  std::optional<std::string> read_line() {
    std::size_t end = received_.find('\n');
    while (end == std::string::npos) {
      std::array<char, 4096> buffer{};
      const ssize_t count = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
      if (count <= 0) return std::nullopt;
      received_.append(buffer.data(), static_cast<std::size_t>(count));
      end = received_.find('\n');
    }
    std::string line = received_.substr(0, end);
    received_.erase(0, end + 1);
    return line;
  }

  Replayer* replayer_;
  FileDescriptor socket_;
  int seen_ = 0;
  nlohmann::json open_{};
  std::string received_;
};

}  // namespace cachebisect::test
