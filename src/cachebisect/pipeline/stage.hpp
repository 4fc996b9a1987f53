// What a stage is: the interfaces of the six kinds. A new stage is one file in stages/.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/pace.hpp"
#include "cachebisect/base/random.hpp"
#include "cachebisect/data/batch.hpp"
#include "cachebisect/data/sample.hpp"
#include "cachebisect/device/device.hpp"
#include "cachebisect/device/device_ops.hpp"
#include "cachebisect/pipeline/params.hpp"
#include "cachebisect/protocol/kinds.hpp"

namespace cachebisect {

/// What a stage says of itself beside its parameters.
struct StageTraits {
  bool random = false;        ///< draws random numbers: never cache its output in REAL training
  bool stateful = false;      ///< remembers from sample to sample; reported
  bool side_effects = false;  ///< does something beyond its output; reported
  bool strided_output =
      false;               ///< writes with resize_strided(): can fill a row of any layout itself
  bool allocates = false;  ///< stands on a library that allocates in the steady state
  bool planted = false;    ///< costs what it asks of the worker's pace, and nothing of its own
};

/// What a stage may know while it works on one sample, and its scratch. Made by the executor, one a
/// worker.
class SampleContext {
 public:
  SampleContext(const RandomKey& key, Arena& arena, WorkerPace* pace = nullptr,
                double* serial_seconds = nullptr) noexcept
      : key_(key), arena_(&arena), pace_(pace), serial_seconds_(serial_seconds) {}

  [[nodiscard]] std::uint64_t seed() const noexcept { return key_.seed; }
  [[nodiscard]] std::uint64_t epoch() const noexcept { return key_.epoch; }
  [[nodiscard]] SampleIndex index() const noexcept { return {key_.index}; }
  /// Keyed by (seed, epoch, index, stage name): the same stream live and replayed, on any worker.
  [[nodiscard]] RandomStream random() const noexcept { return RandomStream(key_); }
  /// hash_name of the stage's name in its chain.
  [[nodiscard]] std::uint64_t stage_key() const noexcept { return key_.stage; }
  /// Scratch until process() returns.
  [[nodiscard]] Arena& arena() const noexcept { return *arena_; }
  /// The worker's own pace, for stages that plant a cost; null outside an executor.
  [[nodiscard]] WorkerPace* pace() const noexcept { return pace_; }
  /// For a stage that passes a section which all workers pass one by one (a lock, one file handle):
  /// the seconds inside, waits not counted. What limits a pipeline is told from it.
  void add_serial_seconds(double seconds) const noexcept {
    if (serial_seconds_ != nullptr) *serial_seconds_ += seconds;
  }

 private:
  RandomKey key_;
  Arena* arena_;
  WorkerPace* pace_;
  double* serial_seconds_;
};

/// Base of all stages. After infer() a stage is immutable and its work is const and thread safe.
class CACHEBISECT_API Stage {
 public:
  virtual ~Stage();
  [[nodiscard]] virtual StageKind kind() const noexcept = 0;
  /// Called once, after the specs are known and before anything runs: opens files, reads indices,
  /// generates data (source). Throws Error(data) that names file and remedy.
  virtual void open() {}
};

/// Bytes of a file that a sample is read from.
struct FileRange {
  std::string path;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// Kind `source`: an indexed set of samples.
class CACHEBISECT_API SourceStage : public Stage {
 public:
  [[nodiscard]] StageKind kind() const noexcept final { return StageKind::source; }
  /// Number of samples; valid after open().
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  [[nodiscard]] virtual SampleSpec infer() = 0;
  /// Reads sample `context.index()`; sets `out`'s fields and, where there is a file, its origin.
  virtual void read(Sample& out, const SampleContext& context) const = 0;
  /// True when open() found no data and generated it, or found data that it had generated before.
  [[nodiscard]] virtual bool generated() const { return false; }
  /// Where sample `index` lies on disk (for residency and eviction); empty when it is in no file.
  [[nodiscard]] virtual std::vector<FileRange> files(SampleIndex index) const;
};

/// Kind `sample`: one sample in, one out.
class CACHEBISECT_API SampleStage : public Stage {
 public:
  [[nodiscard]] StageKind kind() const noexcept final { return StageKind::sample; }
  /// Checks what comes in and says what goes out. Throws Error(usage) that says what it needs.
  [[nodiscard]] virtual SampleSpec infer(const SampleSpec& input) = 0;
  /// `out` begins as a look at every field of `input` (Sample::begin_from); the stage resizes and
  /// fills the fields that it changes. Throws Error(data) on a damaged sample.
  virtual void process(const Sample& input, Sample& out, const SampleContext& context) const = 0;
};

/// Kind `collate`: samples to a batch. Static shapes are written straight into rows of the batch;
/// dynamic ones are staged sample by sample and gathered by the worker that completes the batch.
class CACHEBISECT_API CollateStage : public Stage {
 public:
  [[nodiscard]] StageKind kind() const noexcept final { return StageKind::collate; }
  [[nodiscard]] virtual BatchSpec infer(const SampleSpec& input, std::int64_t batch_size) = 0;
  /// Static shapes only: where sample `row` of field `spec` goes in the batch tensor at `base`. The
  /// view has the sample's shape and, for another layout, permuted strides. Rows are equally far
  /// apart.
  [[nodiscard]] virtual TensorView row(const FieldSpec& batch_field, std::byte* base,
                                       std::int64_t row) const = 0;
  /// Dynamic shapes only: makes the fields (and padding_share) of the batch of `samples`; the
  /// caller sets size and indices. Throws Error(data) naming both samples of a mismatch.
  virtual void gather(std::span<const Sample> samples, OwnedHostBatch& out) const = 0;
};

/// Kind `batch`: one host batch in, one out; run by the worker that completed the batch.
class CACHEBISECT_API BatchStage : public Stage {
 public:
  [[nodiscard]] StageKind kind() const noexcept final { return StageKind::batch; }
  [[nodiscard]] virtual BatchSpec infer(const BatchSpec& input) = 0;
  /// `out` begins as a look at every field of `input`; the stage calls out.resize_field() for what
  /// it changes. The context's index is that of the batch's first sample.
  virtual void process(const HostBatch& input, OwnedHostBatch& out,
                       const SampleContext& context) const = 0;
};

/// How batches go to the device.
struct CopyOptions {
  bool pinned = true;
  bool non_blocking = true;
  int prefetch = 2;  ///< 0: from the training thread on the compute stream; n: n batches ahead on a
                     ///< stream of its own
};

/// Kind `copy`: the host-to-device copy itself is the device's; the stage holds how it is done.
class CACHEBISECT_API CopyStage : public Stage {
 public:
  [[nodiscard]] StageKind kind() const noexcept final { return StageKind::copy; }
  [[nodiscard]] virtual CopyOptions options() const noexcept = 0;
};

/// Kind `device`: device batch in, device batch out, by DeviceOps alone.
class CACHEBISECT_API DeviceStage : public Stage {
 public:
  [[nodiscard]] StageKind kind() const noexcept final { return StageKind::device; }
  [[nodiscard]] virtual BatchSpec infer(const BatchSpec& input) = 0;
  /// `out` begins as a look at every field of `input`; the stage calls out.resize_field() for what
  /// it changes.
  virtual void process(const DeviceBatch& input, OwnedDeviceBatch& out, DeviceOps& ops,
                       Stream& stream) const = 0;
};

}  // namespace cachebisect
