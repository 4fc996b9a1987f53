#include "cachebisect/pipeline/remote_source.hpp"

#include "cachebisect/base/number_format.hpp"

namespace cachebisect {

RemoteSource::~RemoteSource() = default;

void RemoteSource::look_up(const OpenContext& /*context*/) {}

std::optional<RequestCounts> request_counts_of(const SourceStage& source) {
  const auto* const remote = dynamic_cast<const RemoteSource*>(&source);
  return remote == nullptr ? std::nullopt : remote->request_counts();
}

std::string to_text(const RequestCounts& counts) {
  return counted(counts.requests, "request") + " for " + format_bytes(counts.received_bytes) +
         ", " + std::to_string(counts.repeated) + " of them repeated (" +
         std::to_string(counts.throttled) + " throttled, " + std::to_string(counts.failed) +
         " failed)";
}

}  // namespace cachebisect
