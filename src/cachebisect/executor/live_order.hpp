// The order in which a run reads the samples of a data set: none twice before the epoch ends.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/executor/grouped_order.hpp"
#include "cachebisect/executor/load_request.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/pipeline/sampler.hpp"

namespace cachebisect {

/// Hands out positions in the endless sequence of epochs. Copies share the position, so that all
/// that reads the data set (`workers: auto`, caches, live blocks) takes samples that nothing else
/// has taken in this epoch. Not thread safe.
class CACHEBISECT_INTERNAL_API LiveOrder {
 public:
  /// `nonce` chooses the place in the epoch where reading begins, so that two runs with different
  /// nonces read different samples first; 0: the beginning of the epoch. The samples of an
  /// unshuffled data set of fewer than 4096 are read from the first one on.
  explicit LiveOrder(const Pipeline& pipeline, std::uint64_t nonce = 0);
  /// The order of another pipeline, with the same nonce and the same position.
  [[nodiscard]] LiveOrder shared_with(const Pipeline& pipeline) const;

  [[nodiscard]] std::uint64_t nonce() const noexcept { return nonce_; }
  /// Samples of the first epoch that nothing has taken yet; 0 once it is over.
  [[nodiscard]] std::uint64_t unread() const noexcept;
  /// Reserves `batches` whole batches and returns the position of the first sample.
  std::uint64_t reserve(std::uint64_t batches) noexcept;
  /// Takes the next samples and appends them to `begun` until it has `count`. All of them are
  /// different, unless an epoch has fewer than `count`.
  [[nodiscard]] std::vector<SampleIndex> take(std::uint64_t count,
                                              std::vector<SampleIndex> begun = {});

  /// A live request that begins at `position`.
  [[nodiscard]] LoadRequest request(std::uint64_t position) const;
  [[nodiscard]] std::uint64_t epoch(std::uint64_t position) const noexcept {
    return position / epoch_length_;
  }
  /// The samples of `batches` whole batches from `position` on, in the executor's order.
  [[nodiscard]] std::vector<SampleIndex> indices(std::uint64_t position,
                                                 std::uint64_t batches) const;
  /// `count` of these samples, evenly spaced.
  [[nodiscard]] std::vector<SampleIndex> some_indices(std::uint64_t position, std::uint64_t batches,
                                                      std::uint64_t count) const;

 private:
  [[nodiscard]] SampleIndex index(std::uint64_t position, OrderReader& reader) const;

  Sampler sampler_;
  std::shared_ptr<const GroupedOrder> grouped_;  // null: not grouped
  std::uint64_t batch_size_;
  std::uint64_t epoch_length_;
  std::uint64_t nonce_;
  std::uint64_t shift_;
  std::shared_ptr<std::uint64_t> next_;
};

}  // namespace cachebisect
