// The requests to one adapter, and its answers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "cachebisect/base/export.hpp"
#include "cachebisect/remote/message_channel.hpp"

namespace cachebisect {

/// Time limits of an adapter's answers, in seconds.
struct AdapterLimits {
  double answer = 300;  ///< between two messages, while a request is open
  double stop = 1;      ///< for the open request, after a stop
  double finish = 5;
};

/// Called with what an adapter says about a request that takes long.
using BusyCallback = std::function<void(const std::string& text)>;

/// One request at a time. Not thread safe.
class CACHEBISECT_INTERNAL_API AdapterConnection {
 public:
  /// `peer`: what answers, in messages.
  AdapterConnection(SocketStream socket, const AdapterLimits& limits,
                    std::string peer = "the training process");

  /// Sends a request, given without its id, and waits for its answer. Throws the error that the
  /// adapter answers with; Error(data) if the connection ends or the adapter is silent for longer
  /// than its limit; Error(internal) for an answer that breaks the protocol; Error(interrupted) on
  /// `stop`.
  nlohmann::json request(const nlohmann::json& request, const std::stop_token& stop);

  /// The same in two halves, for callers that wait for several adapters at once.
  void send(nlohmann::json request);
  /// The answer to the open request; empty if it has not arrived. Does not wait.
  std::optional<nlohmann::json> poll_answer();
  /// Waits for the answer to the open request, and throws as request() does. An adapter that is
  /// silent for `seconds`, or until a stop, is told to give it up. `seconds` 0: it has been silent
  /// for its limit already.
  nlohmann::json await_open(double seconds, const std::stop_token& stop);
  [[nodiscard]] double answer_limit() const noexcept { return limits_.answer; }
  void set_answer_limit(double seconds) noexcept { limits_.answer = seconds; }

  /// Ids of requests, for a second connection to the same adapter: none is used twice.
  [[nodiscard]] std::uint64_t last_id() const noexcept { return last_id_; }
  void skip_ids(std::uint64_t last) noexcept { last_id_ = std::max(last_id_, last); }

  /// The last message. Waits for its answer for a short time, unless the adapter has not reacted to
  /// a stop. False without an answer from a connected adapter; never throws.
  bool finish(bool exit, int exit_code, const std::string& text) noexcept;

  void set_busy_callback(BusyCallback callback) { on_busy_ = std::move(callback); }
  /// True once the end of the connection was read.
  [[nodiscard]] bool is_closed() const noexcept { return closed_; }
  [[nodiscard]] int descriptor() const noexcept { return channel_.descriptor(); }
  /// The newest clock of an adapter that simulates time, in seconds; empty for all others.
  [[nodiscard]] std::optional<double> clock() const noexcept { return clock_; }

 private:
  void send_stop();
  std::optional<nlohmann::json> await_answer(double seconds, const std::stop_token& stop);
  std::optional<nlohmann::json> answer_in(const std::string& line);

  MessageChannel channel_;
  AdapterLimits limits_;
  std::string peer_;
  BusyCallback on_busy_;
  std::uint64_t last_id_ = 0;
  std::uint64_t open_id_ = 0;
  std::string open_type_;
  bool was_busy_ = false;  ///< since it was last reset
  bool closed_ = false;
  bool stuck_ = false;  ///< did not react to a stop
  std::optional<double> clock_;
};

}  // namespace cachebisect
