// A LoadRequest made ready to run: which stages are live, where samples begin, how positions map.
#pragma once

#include <cstdint>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/executor/grouped_order.hpp"
#include "cachebisect/executor/load_request.hpp"
#include "cachebisect/pipeline/pipeline.hpp"
#include "cachebisect/pipeline/sampler.hpp"

namespace cachebisect {

/// One thing that a worker does to a sample or a batch.
struct LoadStep {
  /// `substitute` continues with the bypass cache's output in place of what came before.
  enum class Kind { read, process, substitute };
  Kind kind = Kind::process;
  std::size_t position = 0;  ///< of the stage, 0-based
  const ChainStage* link = nullptr;
};

/// Walks through positions: the offset within the epoch, cache or list, and the epoch.
struct LoadCursor {
  std::uint64_t epoch = 0;
  std::uint64_t offset = 0;
  std::uint64_t modulus = 1;
  bool epochs_pass = false;

  [[nodiscard]] LoadCursor next() const noexcept {
    const bool wraps = offset + 1 == modulus;
    return {epoch + (wraps && epochs_pass ? 1 : 0), wraps ? 0 : offset + 1, modulus, epochs_pass};
  }
  void advance() noexcept { *this = next(); }
};

/// The positions of one batch.
struct BatchRange {
  std::uint64_t first_position = 0;
  std::int64_t size = 0;
};

class CACHEBISECT_INTERNAL_API LoadProgram {
 public:
  enum class Origin { sampler, indices, cached_samples, cached_batches };

  LoadProgram() = default;
  /// `grouped`: the order of a pipeline that groups by size; null for others. Throws
  /// Error(internal) for a request that cannot be run.
  LoadProgram(const Pipeline& pipeline, const Sampler& sampler, const LoadRequest& request,
              const GroupedOrder* grouped = nullptr);

  [[nodiscard]] const LoadRequest& request() const noexcept { return request_; }
  [[nodiscard]] Origin origin() const noexcept { return origin_; }
  [[nodiscard]] const std::vector<LoadStep>& sample_steps() const noexcept { return sample_steps_; }
  /// Sample steps that are asked for a sample before the steps before them run, the last one first.
  /// None while outputs are observed, which must be those of every stage.
  [[nodiscard]] const std::vector<std::size_t>& cache_steps() const noexcept {
    return cache_steps_;
  }
  [[nodiscard]] const std::vector<LoadStep>& batch_steps() const noexcept { return batch_steps_; }
  /// Batches are handed over as they are, and nothing runs.
  [[nodiscard]] bool by_pointer() const noexcept {
    return origin_ == Origin::cached_batches && batch_steps_.empty();
  }
  /// Samples end in the slot; false if collate's output comes from the bypass cache, or if no stage
  /// after some sample stage runs.
  [[nodiscard]] bool collates() const noexcept { return collates_; }

  /// Whether samples are in an order of groups.
  [[nodiscard]] bool is_grouped() const noexcept { return grouped_ != nullptr; }
  [[nodiscard]] BatchRange range(std::uint64_t sequence) const noexcept;
  [[nodiscard]] LoadCursor cursor(std::uint64_t position) const noexcept;
  /// The sample at the cursor; `reader`: of this thread. Origins sampler and indices only.
  [[nodiscard]] SampleIndex index(const LoadCursor& at, OrderReader& reader) const;
  /// Takes its place if it is damaged.
  [[nodiscard]] SampleIndex replacement(const LoadCursor& at, unsigned attempt) const noexcept;
  [[nodiscard]] const HostBatch& cached_batch(std::uint64_t sequence) const noexcept;
  [[nodiscard]] const HostBatch& bypass_batch(std::uint64_t sequence) const noexcept;
  [[nodiscard]] const Sample& bypass_sample(std::uint64_t position) const noexcept;

 private:
  /// The cursor's place in the sampler's order.
  [[nodiscard]] std::uint64_t place(const LoadCursor& at) const noexcept {
    const std::uint64_t place = at.offset + request_.order_shift;
    return place < sampler_->size() ? place : place % sampler_->size();
  }
  void check() const;
  void add_sample_steps();
  void find_cache_steps();
  void add_batch_steps();

  const Pipeline* pipeline_ = nullptr;
  const Sampler* sampler_ = nullptr;
  const GroupedOrder* grouped_ = nullptr;
  LoadRequest request_;
  Origin origin_ = Origin::sampler;
  bool collates_ = true;
  std::uint64_t batch_size_ = 1;
  std::uint64_t modulus_ = 1;
  std::vector<LoadStep> sample_steps_;
  std::vector<std::size_t> cache_steps_;
  std::vector<LoadStep> batch_steps_;
};

/// Samples in an epoch of this pipeline.
CACHEBISECT_INTERNAL_API std::uint64_t epoch_length(const Pipeline& pipeline);

}  // namespace cachebisect
