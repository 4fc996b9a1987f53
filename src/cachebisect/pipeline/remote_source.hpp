// What a source tells that reads from servers.
#pragma once

#include <optional>
#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/pipeline/stage.hpp"
#include "cachebisect/protocol/request_counts.hpp"

namespace cachebisect {

/// An interface next to SourceStage. Thread safe; all but look_up() is valid after open().
class CACHEBISECT_INTERNAL_API RemoteSource {
 public:
  virtual ~RemoteSource();
  /// Called once, before infer(): what a source must ask a server for to know its fields, it asks
  /// for now. Throws as open_with() does.
  virtual void look_up(const OpenContext& context);
  /// Names, sizes and tags of the objects, one per line: others of them give other samples. Empty
  /// if it reads files.
  [[nodiscard]] virtual std::string objects() const = 0;
  /// Since it was opened. Empty if it reads files.
  [[nodiscard]] virtual std::optional<RequestCounts> request_counts() const = 0;
};

/// Those of a source; empty if it reads from no server.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<RequestCounts> request_counts_of(
    const SourceStage& source);
/// "12 requests for 3.4 MB, 2 of them repeated (1 throttled, 1 failed)"
[[nodiscard]] CACHEBISECT_INTERNAL_API std::string to_text(const RequestCounts& counts);

}  // namespace cachebisect
