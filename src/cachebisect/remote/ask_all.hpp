// One request to many adapters at the same time, from one thread.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <stop_token>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/file_descriptor.hpp"
#include "cachebisect/remote/adapter_connection.hpp"

namespace cachebisect {

/// Waits for answers of the same adapters again and again: it costs what answers, not what there
/// is. Keeps references to them. Not thread safe.
class CACHEBISECT_INTERNAL_API AskAll {
 public:
  /// The last `relays` of them answer for several ranks each. They say which of these is silent
  /// for too long, and get the time for it. Throws Error(internal) if the system cannot wait for so
  /// many.
  explicit AskAll(std::vector<AdapterConnection*> connections, std::size_t relays = 0);

  /// Called with the first error, by the index of its adapter, before the others are told to give
  /// up.
  void set_failure_callback(std::function<void(std::size_t, const std::exception_ptr&)> callback) {
    on_failure_ = std::move(callback);
  }

  /// The request for one of them, by its index; null: it is not asked.
  using Request = std::function<nlohmann::json(std::size_t)>;
  struct Answers {
    std::vector<nlohmann::json> values;
    std::vector<std::exception_ptr> errors;  ///< empty where there is a value
  };
  /// Returns once all have answered. After an error (also one that a relay tells), a stop or too
  /// long a silence of all those that are left, these are told to give up, and have the time for it
  /// that `stop` requests have.
  Answers ask(const Request& request, const std::stop_token& stop);

 private:
  class Round;

  [[nodiscard]] bool is_relay(std::size_t i) const noexcept { return i >= first_relay_; }

  std::vector<AdapterConnection*> connections_;
  std::size_t first_relay_;
  std::function<void(std::size_t, const std::exception_ptr&)> on_failure_;
  FileDescriptor waiting_;
};

}  // namespace cachebisect
