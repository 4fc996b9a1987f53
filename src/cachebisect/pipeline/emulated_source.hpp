// A source whose reads wait as an emulated storage makes them wait.
#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/pipeline/stage.hpp"
#include "cachebisect/pipeline/storage_spec.hpp"
#include "cachebisect/storage/emulated_storage.hpp"

namespace cachebisect {

/// The samples of another source, which is read as always once the storage has answered. One
/// request for each range of a file that holds a sample; for each run, of a RunReader; for each
/// sample, as large as its fields, of a source that names no files. Opening it does not wait.
class CACHEBISECT_INTERNAL_API EmulatedSource final : public SourceStage {
 public:
  /// `seed`: of the latencies. Throws Error(usage) for a spec that is not sensible.
  EmulatedSource(std::shared_ptr<SourceStage> source, const StorageSpec& spec, std::uint64_t seed);

  void open() override { open_with({}); }
  /// The stop of `context` also ends waits of reads.
  void open_with(const OpenContext& context) override;
  [[nodiscard]] std::uint64_t size() const override { return source_->size(); }
  [[nodiscard]] SampleSpec infer() override { return source_->infer(); }
  void read(Sample& out, const SampleContext& context) const override;
  [[nodiscard]] bool generated() const override { return source_->generated(); }
  [[nodiscard]] ReadRuns read_runs() const override { return source_->read_runs(); }
  [[nodiscard]] std::vector<FileRange> files(SampleIndex index) const override {
    return source_->files(index);
  }
  [[nodiscard]] std::uint64_t stored_bytes(SampleIndex index) const override {
    return source_->stored_bytes(index);
  }

  [[nodiscard]] StorageTotals totals() const { return storage_.totals(); }

 private:
  std::shared_ptr<SourceStage> source_;
  mutable EmulatedStorage storage_;
  std::stop_token stop_;
  bool waits_for_runs_ = false;
};

}  // namespace cachebisect
