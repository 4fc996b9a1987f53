// One request to many adapters at the same time, from one thread.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <stop_token>
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
  /// Throws Error(internal) if the system cannot wait for so many.
  explicit AskAll(std::vector<AdapterConnection*> connections);

  /// The request for one of them, by its index.
  using Request = std::function<nlohmann::json(std::size_t)>;
  struct Answers {
    std::vector<nlohmann::json> values;
    std::vector<std::exception_ptr> errors;  ///< empty where there is a value
  };
  /// Returns once all have answered. After an error, a stop or too long a silence of all those that
  /// are left, these are told to give up, and have the time for it that `stop` requests have.
  Answers ask(const Request& request, const std::stop_token& stop);

 private:
  class Round;

  std::vector<AdapterConnection*> connections_;
  FileDescriptor waiting_;
};

}  // namespace cachebisect
