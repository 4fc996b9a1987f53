// Where a data set may be prepared, and what that costs and saves: measured before anything is
// written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cachebisect/pipeline/pipeline.hpp"

namespace cachebisect::prepare {

/// A sample as one codec stores it: mean bytes, median seconds of some samples.
struct StoredCost {
  std::string codec;
  double bytes = 0;          ///< per sample
  double write_seconds = 0;  ///< packing and compressing a sample, without the disk
  double read_seconds = 0;   ///< copying, checking and expanding it, without the disk
};

/// A stage behind which samples may be stored.
struct Place {
  std::string after;       ///< the stage's name
  std::size_t stages = 0;  ///< up to and with it
  double seconds = 0;      ///< of these stages per sample
  std::vector<StoredCost> stored;
};

struct CACHEBISECT_INTERNAL_API Places {
  std::vector<Place> all;  ///< in the order of the chain
  std::string random;      ///< the stage that ends them because it draws random numbers; or empty
  double seconds = 0;      ///< of all stages before collate, per sample
  std::uint64_t samples = 0;

  /// Null if there is none of this name.
  [[nodiscard]] const Place* find(const std::string& after) const noexcept;
};

/// A place with the codec that it is read with.
struct Choice {
  Place place;
  StoredCost stored;
  double gain = 0;  ///< of the samples/s that a core makes, as a share
};

/// Runs the chain on some samples, for some seconds at most. `random_too`: also behind stages that
/// draw random numbers. Throws what the stages throw, Error(usage) for a codec, Error(data) if all
/// samples are damaged, Error(interrupted).
[[nodiscard]] Places measure_places(const Pipeline& pipeline,
                                    const std::vector<std::string>& codecs, bool random_too,
                                    const std::stop_token& stop = {});

/// The share by which a core makes more samples per second if they are read from there.
[[nodiscard]] CACHEBISECT_INTERNAL_API double gain_of(const Places& places, const Place& place,
                                                      const StoredCost& stored);
/// What gains most of what fits into `free_bytes`; empty if nothing gains kLeastGain.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<Choice> best_choice(const Places& places,
                                                                         double free_bytes);

inline constexpr double kLeastGain = 0.05;

}  // namespace cachebisect::prepare
