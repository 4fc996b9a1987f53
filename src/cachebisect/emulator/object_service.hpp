// What the emulator answers to a request, and when: files of a folder, at the pace of a model.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/emulator/served_folder.hpp"
#include "cachebisect/storage/storage_model.hpp"

namespace cachebisect {

struct ObjectRequest {
  std::string method;
  std::string path;      ///< decoded
  std::string range;     ///< the header's value; empty: none
  std::string if_range;  ///< likewise
};

struct ObjectReply {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string text;                        ///< of an answer without a file
  std::shared_ptr<const ServedFile> file;  ///< else these bytes of it:
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  bool last_of_connection = false;
  double due = 0;                   ///< seconds of the monotonic clock; of its first byte
  std::shared_ptr<void> in_flight;  ///< held until the answer is sent
};

struct EmulatorTotals {
  std::uint64_t requests = 0;
  std::uint64_t bytes = 0;      ///< of files, sent
  std::uint64_t throttled = 0;  ///< requests that were answered with 503
  int most_in_flight = 0;
};

/// Thread safe. Must outlive its replies.
class CACHEBISECT_INTERNAL_API ObjectService {
 public:
  /// Throws Error(usage) as ServedFolder and StorageModel do.
  ObjectService(const std::string& folder, const StorageSettings& settings);

  /// `now`: seconds of the monotonic clock.
  [[nodiscard]] ObjectReply answer(const ObjectRequest& request, double now);
  /// When bytes that are ready at `ready` have passed; counts them.
  [[nodiscard]] double send_piece(double ready, std::uint64_t bytes);
  /// Bytes of a piece: about a millisecond of the bandwidth.
  [[nodiscard]] std::size_t piece_bytes() const noexcept { return piece_bytes_; }
  [[nodiscard]] EmulatorTotals totals() const;

 private:
  [[nodiscard]] std::shared_ptr<void> begin_request();
  [[nodiscard]] ObjectReply object(const ObjectRequest& request) const;

  ServedFolder folder_;
  std::size_t piece_bytes_;
  mutable std::mutex mutex_;
  // Guarded by mutex_:
  StorageModel model_;
  EmulatorTotals totals_;
  int in_flight_ = 0;
};

}  // namespace cachebisect
