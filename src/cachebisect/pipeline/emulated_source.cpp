#include "cachebisect/pipeline/emulated_source.hpp"

#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/pipeline/remote_source.hpp"
#include "cachebisect/pipeline/run_reader.hpp"

namespace cachebisect {
namespace {

StorageSettings storage_settings(const StorageSpec& spec, std::uint64_t seed) {
  constexpr double kPerThousand = 1e-3;
  constexpr double kMegabyte = 1e6;
  constexpr double kUsualTail = 3;
  const double p99_ms = spec.latency_p99_ms.value_or(kUsualTail * spec.latency_ms);
  return {.median_seconds = kPerThousand * spec.latency_ms,
          .p99_seconds = kPerThousand * p99_ms,
          .bytes_per_second = kMegabyte * spec.bandwidth_mb_per_s,
          .requests_per_second = spec.requests_per_second,
          .burst = spec.burst,
          .seed = seed};
}

}  // namespace

EmulatedSource::EmulatedSource(std::shared_ptr<SourceStage> source, const StorageSpec& spec,
                               std::uint64_t seed)
    : source_(std::move(source)), storage_(storage_settings(spec, seed)) {}

void EmulatedSource::open_with(const OpenContext& context) {
  stop_ = context.stop;
  source_->open_with(context);
  if (request_counts_of(*source_)) {
    throw Error(ErrorKind::usage,
                "emulate.storage: the source reads from a server, whose answers take their time "
                "already; leave emulate.storage out, or read a local copy of the data");
  }
  auto* const reader = dynamic_cast<RunReader*>(source_.get());
  waits_for_runs_ = reader != nullptr &&
                    reader->listen([this](std::uint64_t bytes) { storage_.read(bytes, stop_); });
}

void EmulatedSource::read(Sample& out, const SampleContext& context) const {
  if (waits_for_runs_) return source_->read(out, context);
  const std::vector<FileRange> ranges = source_->files(context.index());
  // Of a file that cannot be looked up nothing waits: reading it says why.
  for (const FileRange& range : ranges) storage_.read(bytes_of(range), stop_);
  source_->read(out, context);
  if (ranges.empty()) storage_.read(out.byte_size(), stop_);
}

}  // namespace cachebisect
