// The budgets of the boundary caches, and what the caches hold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cachebisect {

/// Share of the memory that other programs leave, for caches that have no budget.
inline constexpr double kHostCacheShare = 0.25;

struct CacheBudget {
  std::optional<double> host_bytes;    ///< empty: 25% of the spare memory
  std::optional<double> device_bytes;  ///< empty: 10% of the free memory
};

/// The values of a field, by some samples of the caches: others may have more.
struct FieldValues {
  std::string name;
  double low = 0;
  double high = 0;
  double nonzero = 0;   ///< values that are not zero, of the sample that has most of them
  bool whole = true;    ///< all are whole numbers
  bool unused = false;  ///< neither the training step nor a stage behind collate reads it
};

struct CacheFacts {
  std::uint64_t samples = 0;  ///< K, the same at every boundary
  double bytes_host = 0;
  double bytes_device = 0;
  /// Empty, "data set", "host budget", "available host memory", "device budget".
  std::string limited_by;
  std::uint64_t most_samples = 0;        ///< that the budgets hold at every boundary; 0: unknown
  double seconds = 0;                    ///< time to fill the caches
  std::optional<double> data_set_bytes;  ///< of the files behind the data set, estimated
  std::vector<double> serve_seconds_per_sample;  ///< rho_k, one per boundary 0..n
  std::vector<double> item_bytes;                ///< per sample, one per boundary 0..n
  std::vector<FieldValues> fields;               ///< that collate gets; may be empty
  /// Bytes of padded batches if they were of samples of similar size, over what they are now; empty
  /// if nothing is padded, or sizes are not known.
  std::optional<double> grouped_bytes_share;
  int idle_workers = 0;                            ///< that delivered no sample
  std::optional<double> floor_seconds_per_sample;  ///< the tool's own cost on this machine
  std::optional<double> floor_seconds_per_batch;
};

}  // namespace cachebisect
