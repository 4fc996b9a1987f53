#include "cachebisect/remote/await_adapter.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include <nlohmann/json.hpp>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/version.hpp"
#include "cachebisect/remote/described_ranks.hpp"
#include "cachebisect/remote/stop_event.hpp"
#include "cachebisect/remote/wait.hpp"

namespace cachebisect {
namespace {

using nlohmann::json;

/// A process that has connected and has not described a loader.
struct Candidate {
  std::unique_ptr<AdapterConnection> connection;
  std::optional<AdapterHello> hello;
  std::shared_ptr<NodeConnection> node;  ///< the other node that it runs on; empty: this one
  std::uint64_t process = 0;             ///< that the relay of that node knows it by
};

void check_version(const AdapterHello& hello) {
  if (hello.protocol == kProtocolVersion) return;
  throw Error(ErrorKind::usage, "the adapter in the training process speaks version " +
                                    std::to_string(hello.protocol) +
                                    " of the protocol, this cachebisect (" + version() +
                                    ") speaks version " + std::to_string(kProtocolVersion) +
                                    "; install both from the same release");
}

class AdapterSearch {
 public:
  AdapterSearch(const SocketListener& listener, const AwaitOptions& options)
      : listener_(listener), options_(options) {}

  AwaitResult wait(const std::stop_token& stop) {
    const StopEvent stopped(stop);
    double deadline = monotonic_seconds() + options_.hello_seconds;
    for (;;) {
      // What has arrived counts before the end of the command does.
      const bool ended = command_has_ended();
      accept_all();
      // The command may wait for the other nodes before it does anything.
      if (!all_have_joined()) deadline = monotonic_seconds() + options_.hello_seconds;
      serve_all();
      if (ranks_.is_complete()) return found();
      ranks_.check(options_.limits.answer);
      if (stop.stop_requested()) throw Error(ErrorKind::interrupted, "stopped");
      if (ended || all_have_ended()) return {{}, std::move(seen_)};
      const bool greeted = !seen_.empty();
      if (!greeted && monotonic_seconds() >= deadline) fail_without_hello();
      static_cast<void>(wait_readable(descriptors(stopped), wake_at(greeted, deadline)));
    }
  }

 private:
  [[nodiscard]] bool all_have_joined() const {
    return options_.nodes == nullptr || options_.nodes->is_complete();
  }

  [[nodiscard]] std::optional<double> wake_at(bool greeted, double hello_deadline) const {
    if (!all_have_joined()) return options_.nodes->deadline();
    return greeted ? ranks_.deadline(options_.limits.answer) : std::optional(hello_deadline);
  }

  [[nodiscard]] bool command_has_ended() const {
    return options_.command_ended >= 0 && !wait_readable({options_.command_ended}, 0).empty();
  }

  [[nodiscard]] bool all_have_ended() const {
    return options_.command_ended < 0 && !seen_.empty() && candidates_.empty() && ranks_.empty();
  }

  [[nodiscard]] std::vector<int> descriptors(const StopEvent& stopped) const {
    std::vector<int> all{listener_.descriptor(), stopped.descriptor(), options_.command_ended};
    for (const Candidate& candidate : candidates_)
      all.push_back(candidate.connection->descriptor());
    ranks_.add_descriptors(all);
    if (options_.nodes != nullptr) options_.nodes->add_descriptors(all);
    return all;
  }

  void accept_all() {
    for (FileDescriptor socket = listener_.accept(); socket.is_open();
         socket = listener_.accept()) {
      greet({.socket = std::move(socket), .node = nullptr});
    }
    if (options_.nodes == nullptr) return;
    options_.nodes->serve();
    while (auto process = options_.nodes->next_process()) {
      process->node->set_busy_callback(options_.on_busy);
      greet(*std::move(process));
    }
  }

  void greet(NodeListener::Process process) {
    Candidate candidate{
        std::make_unique<AdapterConnection>(std::move(process.socket), options_.limits),
        {},
        std::move(process.node),
        process.number};
    candidate.connection->set_busy_callback(options_.on_busy);
    if (send(candidate,
             {{"type", "hello"}, {"protocol", kProtocolVersion}, {"engine", version()}})) {
      candidates_.push_back(std::move(candidate));
    }
  }

  /// False if the process has ended.
  static bool send(Candidate& candidate, const json& request) {
    try {
      candidate.connection->send(request);
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  /// Reads what the processes have sent, and drops those that have ended or are one of ranks_ now.
  void serve_all() {
    for (auto candidate = candidates_.begin(); candidate != candidates_.end();) {
      if (ranks_.is_complete()) return;
      candidate = serve(*candidate) ? std::next(candidate) : candidates_.erase(candidate);
    }
  }

  /// False if the process is no candidate any more.
  bool serve(Candidate& candidate) {
    const std::optional<json> answer = poll(candidate);
    if (!answer) return connected_;
    if (candidate.hello) {
      AttachedAdapter described{std::move(candidate.connection), *candidate.hello,
                                read_description(*answer), candidate.node, candidate.process};
      if (!ranks_.add(described)) {
        candidate.connection = std::move(described.connection);
        send(candidate, finish_request(false, 0, "another process is measured"));
      }
      return false;
    }
    candidate.hello = read_hello(*answer);
    check_version(*candidate.hello);
    seen_.push_back(*candidate.hello);
    return send(candidate, {{"type", "describe"}});
  }

  /// Sets connected_.
  std::optional<json> poll(Candidate& candidate) {
    connected_ = true;
    try {
      return candidate.connection->poll_answer();
    } catch (const Error& error) {
      if (!candidate.connection->is_closed()) {
        refuse(*candidate.connection, error);
        throw;
      }
      connected_ = false;
      return std::nullopt;
    }
  }

  void refuse(AdapterConnection& connection, const Error& error) const {
    const bool told =
        connection.finish(options_.exit_after_error, exit_code(error.kind()), error.what());
    if (told && options_.on_refusal) options_.on_refusal();
  }

  AwaitResult found() {
    const json finish = finish_request(false, 0, "another process is measured");
    for (Candidate& candidate : candidates_) send(candidate, finish);
    std::vector<AttachedAdapter> ranks = ranks_.take();
    check_loaders(ranks);
    return {std::move(ranks), std::move(seen_)};
  }

  void check_loaders(const std::vector<AttachedAdapter>& ranks) const {
    if (first_with_loader(ranks) != nullptr) return;
    const Error error(ErrorKind::usage,
                      "no rank has a loader: all of them iterate cachebisect.steps(...), which is "
                      "for ranks that wait for the batches of others");
    for (const AttachedAdapter& rank : ranks) refuse(*rank.connection, error);
    throw error;
  }

  [[noreturn]] void fail_without_hello() const {
    throw Error(ErrorKind::usage,
                "no training process has said hello within " +
                    format_seconds(options_.hello_seconds) +
                    (candidates_.empty() ? "" : ", although one has connected") +
                    "; python -S, frozen programs, `env -i`, containers and other hosts do not "
                    "load the hook of `cachebisect run`, nor do python -I and -E and another "
                    "sitecustomize on PYTHONPATH unless cachebisect is installed in that Python: "
                    "call cachebisect.bisect(loader, step) in the script "
                    "instead, or raise --hello-timeout");
  }

  const SocketListener& listener_;
  const AwaitOptions& options_;
  std::vector<Candidate> candidates_;
  std::vector<AdapterHello> seen_;
  DescribedRanks ranks_;
  bool connected_ = true;  ///< of the candidate that was polled last
};

}  // namespace

AwaitResult await_adapter(const SocketListener& listener, const AwaitOptions& options,
                          const std::stop_token& stop) {
  return AdapterSearch(listener, options).wait(stop);
}

std::string names_of(const std::vector<AdapterHello>& seen) {
  std::string names;
  for (const AdapterHello& hello : seen) {
    if (!names.empty()) names += ", ";
    names += hello.program.empty() ? "process " + std::to_string(hello.process) : hello.program;
    if (!hello.torch.empty()) names += " (torch " + hello.torch + ")";
  }
  return names;
}

}  // namespace cachebisect
