// The settings of a training job with their limits: one table for the schema and the checks of
// pipeline files, the command's options, what-ifs and simulations.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace cachebisect::settings {

/// A setting that is a whole number.
struct Count {
  std::string_view key;
  std::string_view doc;  ///< one line
  std::int64_t min = 0;
  std::int64_t max = 0;

  [[nodiscard]] constexpr bool allows(std::int64_t value) const noexcept {
    return value >= min && value <= max;
  }
};

inline constexpr Count kSeed{"seed", "seed of the order and of every random stage", 0,
                             std::int64_t{1} << 53};
inline constexpr Count kBatchSize{"batch_size", "samples in a batch", 1, 1 << 20};
inline constexpr Count kWorkers{"workers", "loading threads; 0 loads inside the training thread", 0,
                                1024};
inline constexpr Count kPrefetch{"prefetch", "batch slots beyond those being filled and used", 0,
                                 64};
inline constexpr Count kGroupBySize{
    "group_by_size",
    "0, or batches of samples of similar size: the samples of so many batches are drawn, sorted by "
    "their bytes in storage, and the batches shuffled",
    0, 4096};
/// Batches that the report proposes to group: enough for batches with little padding, few enough
/// that the order stays random.
inline constexpr int kProposedGroup = 16;

/// The key of LoaderKind (kinds.hpp).
inline constexpr std::string_view kLoader = "loader";
// The next four are for jobs in code alone.
/// The stage behind which samples are kept.
inline constexpr std::string_view kCache = "cache";
/// The stage that runs on the device for a whole batch, with what follows.
inline constexpr std::string_view kOnDevice = "on_device";
/// Threads in which a worker makes the samples of a batch side by side.
inline constexpr std::string_view kReadThreads = "read_threads";
/// A stage that crops, and the earlier one that it runs before.
inline constexpr std::string_view kOrder = "order";
/// "drop" leaves out of a batch what the step does not read; for jobs in code alone.
inline constexpr std::string_view kUnused = "unused";
inline constexpr std::string_view kDecodeScale = "decode_scale";

/// Every key at the top level of a pipeline file.
inline constexpr std::array<std::string_view, 13> kKeys{
    "name",           "seed",  "batch_size", "workers", "prefetch", "shuffle", "drop_last",
    kGroupBySize.key, kLoader, "stages",     "train",   "device",   "emulate"};

/// `prefetch` of the copy stage.
inline constexpr Count kCopyPrefetch{"prefetch",
                                     "batches copied ahead on a stream of their own; 0: from the "
                                     "training thread on the compute stream",
                                     0, 3};

}  // namespace cachebisect::settings
