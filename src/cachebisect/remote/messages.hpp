// The answers of an adapter as values, and the requests that need more than a name
// (docs/extend/protocol.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/export.hpp"
#include "cachebisect/protocol/replayer.hpp"

namespace cachebisect {

/// The version of the protocol in docs/extend/protocol.md. Both sides must have the same.
inline constexpr std::uint64_t kProtocolVersion = 1;

/// What an adapter says about itself.
struct AdapterHello {
  std::uint64_t protocol = 0;
  std::string adapter;  ///< name and version
  std::uint64_t process = 0;
  int rank = 0;
  int world = 1;
  std::string python;
  std::string torch;  ///< empty: not imported by then
  std::string program;
};

/// The training job and the arms that the adapter can run.
struct AdapterDescription {
  ChainDescription chain;
  std::vector<int> boundaries;  ///< that can be replayed
  std::vector<int> unseen;      ///< the same from samples that no stage after them has had
  std::vector<int> stages;      ///< that can be bypassed
  bool shadow = false;
  bool overrides = false;  ///< live arms with overrides can be asked for
  std::optional<double> expect_samples_per_second;
  int settling_steps = 0;  ///< of the first block of an arm, in addition to those asked for
  std::vector<std::string> notes;
  std::optional<int> rank;  ///< of a distributed job; empty: as in the hello
  std::optional<int> world;

  /// False for a rank that takes part in every step and has no chain of its own.
  [[nodiscard]] bool has_loader() const noexcept { return !chain.stages.empty(); }
};

/// What the size of the caches depends on.
struct AdapterSizes {
  std::vector<double> item_bytes;  ///< per sample, one per boundary 0..n
  std::uint64_t samples_in_flight = 0;
  std::uint64_t round_to = 1;
  std::optional<double> device_free_bytes;
};

/// These throw Error(internal) that names the field that is wrong.
CACHEBISECT_INTERNAL_API AdapterHello read_hello(const nlohmann::json& answer);
CACHEBISECT_INTERNAL_API AdapterDescription read_description(const nlohmann::json& answer);
CACHEBISECT_INTERNAL_API AdapterSizes read_sizes(const nlohmann::json& answer,
                                                 const ChainDescription& chain);
/// Empty if `cache` is null.
CACHEBISECT_INTERNAL_API std::optional<CacheFacts> read_cache(const nlohmann::json& answer,
                                                              const ChainDescription& chain);
CACHEBISECT_INTERNAL_API BlockResult read_block(const nlohmann::json& answer,
                                                const ChainDescription& chain);
/// The same for a chain of so many stages.
CACHEBISECT_INTERNAL_API BlockResult read_block(const nlohmann::json& answer, std::size_t stages);
/// Empty if `storage` is null.
CACHEBISECT_INTERNAL_API std::optional<StorageCounts> read_storage(const nlohmann::json& answer);
/// The error that an adapter reports, with stage and sample in its message.
CACHEBISECT_INTERNAL_API Error read_error(const nlohmann::json& answer);

/// What adapters answer, as a JSON Schema; it ends in a newline.
CACHEBISECT_INTERNAL_API std::string messages_schema();

/// The field `arm` of a request.
CACHEBISECT_INTERNAL_API nlohmann::json to_json(const Arm& arm);
/// A `run` request without its id.
CACHEBISECT_INTERNAL_API nlohmann::json run_request(const BlockRequest& request);
/// The field `block` of an answer; what is empty or 0, and may be missing, is.
CACHEBISECT_INTERNAL_API nlohmann::json block_json(const BlockResult& block);
/// The fields of an `error` message. Its text holds stage and sample already.
nlohmann::json error_json(const Error& error);
/// A `finish` request without its id.
CACHEBISECT_INTERNAL_API nlohmann::json finish_request(bool exit, int exit_code,
                                                       const std::string& text);

}  // namespace cachebisect
