#include "cachebisect/replay/reading/count_reads.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/executor/load_guard.hpp"
#include "cachebisect/pipeline/emulated_source.hpp"
#include "cachebisect/pipeline/in_stage.hpp"
#include "cachebisect/pipeline/remote_source.hpp"
#include "cachebisect/replay/reading/process_reads.hpp"

namespace cachebisect {
namespace {

/// The samples that workers make until there are enough.
class MadeSamples {
 public:
  /// `last`: the last sample stage, 1-based. A stop of `stop` ends it, too.
  MadeSamples(const StorageRequest& wanted, std::size_t last, const std::stop_token& stop)
      : wanted_(wanted), last_(last), forward_(stop, [this] { enough_.request_stop(); }) {}

  /// Called by the workers.
  void note(std::size_t stage, SampleIndex index) {
    const std::scoped_lock lock(mutex_);
    if (stage == 1) read_.push_back(index);
    if (stage != last_) return;
    ++made_;
    if (made_ >= wanted_.samples || seconds() >= wanted_.max_seconds) enough_.request_stop();
  }

  [[nodiscard]] std::stop_token enough() const { return enough_.get_token(); }
  [[nodiscard]] double seconds() const { return monotonic_seconds() - began_; }
  /// Once the workers have stopped.
  [[nodiscard]] std::uint64_t made() const noexcept { return made_; }
  /// Those that no cache of the chain had.
  [[nodiscard]] const std::vector<SampleIndex>& read() const noexcept { return read_; }

 private:
  StorageRequest wanted_;
  std::size_t last_;
  double began_ = monotonic_seconds();
  std::mutex mutex_;
  std::uint64_t made_ = 0;
  std::vector<SampleIndex> read_;
  std::stop_source enough_;
  std::stop_callback<std::function<void()>> forward_;  // last: it uses the members above
};

void make_samples(Executor& loader, const LoadRequest& load, const std::stop_token& stop,
                  const std::stop_token& enough) {
  const LoadGuard running(loader, load);
  try {
    for (std::uint64_t i = 0; i < load.batches; ++i) loader.release(loader.next(enough), nullptr);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::interrupted || stop.stop_requested()) throw;
  }
}

void add_requests(const StorageTotals& before, const StorageTotals& after, StorageCounts& counts) {
  counts.requests = after.requests - before.requests;
  counts.request_seconds = after.seconds - before.seconds;
  counts.waiting_seconds = counts.request_seconds;  // A worker has one in flight.
  counts.most_in_flight = counts.requests > 0 ? 1 : 0;
  counts.received_bytes = after.bytes - before.bytes;
  counts.throttled = after.throttled - before.throttled;
}

std::optional<std::uint64_t> files_opened(const SourceStage& source,
                                          const std::vector<SampleIndex>& read) {
  std::uint64_t files = 0;
  std::uint64_t ranges = 0;
  for (const SampleIndex index : read) {
    for (const FileRange& range : source.files(index)) {
      ++ranges;
      if (range.bytes == FileRange::kToEnd) ++files;
    }
  }
  return ranges > 0 ? std::optional(files) : std::nullopt;
}

void add_files(const ProcessReads& reads, const StageCounters& source, std::uint64_t samples_read,
               StorageCounts& counts) {
  counts.file_reads = reads.reads;
  counts.file_bytes = reads.bytes;
  counts.disk_bytes = reads.disk_bytes;
  counts.page_faults = reads.page_faults;
  if (source.samples == 0) return;
  const double waiting = std::max(source.busy_seconds - source.cpu_seconds, 0.0);
  counts.waiting_seconds =
      waiting / static_cast<double>(source.samples) * static_cast<double>(samples_read);
}

struct MakingTime {
  int workers = 1;     ///< that made samples
  double seconds = 0;  ///< of each
};

/// Between two counts of a source. Empty if no sample was made, or nothing was asked for.
std::optional<StorageCounts> storage_between(const RequestCounts& before,
                                             const RequestCounts& after, const MakingTime& time) {
  StorageCounts counts;
  counts.samples = after.samples - before.samples;
  counts.workers = time.workers;
  counts.seconds = time.seconds * time.workers;
  counts.requests = after.requests - before.requests;
  counts.request_seconds = after.request_seconds - before.request_seconds;
  counts.waiting_seconds = after.waiting_seconds - before.waiting_seconds;
  counts.most_in_flight = after.most_in_flight;
  counts.received_bytes = after.received_bytes - before.received_bytes;
  counts.connections = after.connections - before.connections;
  counts.throttled = after.throttled - before.throttled;
  counts.failed = after.failed - before.failed;
  // Without a request, a cache has what was read.
  return counts.samples > 0 && counts.requests > 0 ? std::optional(counts) : std::nullopt;
}

}  // namespace

bool counts_reads(const Pipeline& pipeline) {
  const SourceStage& source = pipeline.source();
  return request_counts_of(source).has_value() || source.read_runs().samples == 1;
}

std::optional<StorageCounts> count_reads(const Pipeline& pipeline, Executor& loader,
                                         LiveOrder& order, const StorageRequest& request,
                                         const std::stop_token& stop) {
  if (!counts_reads(pipeline)) return std::nullopt;
  const auto batch = static_cast<std::uint64_t>(pipeline.batch_size());
  const std::uint64_t batches = (request.samples + batch - 1) / batch;
  const auto requests_before = request_counts_of(pipeline.source());
  const auto* const emulated = dynamic_cast<const EmulatedSource*>(&pipeline.source());
  const StorageTotals before = emulated != nullptr ? emulated->totals() : StorageTotals{};
  MadeSamples samples(request, pipeline.collate_position(), stop);
  LoadRequest load = order.request(order.reserve(batches));
  load.batches = batches;
  load.on_sample = [&](std::size_t stage, std::uint64_t /*position*/, const Sample& sample) {
    samples.note(stage, sample.index());
  };
  const ReadCounter reads;
  make_samples(loader, load, stop, samples.enough());
  if (requests_before) {
    return storage_between(
        *requests_before, *request_counts_of(pipeline.source()),
        {.workers = std::max(loader.workers(), 1), .seconds = samples.seconds()});
  }
  StorageCounts counts;
  counts.samples = samples.made();
  if (counts.samples == 0) return std::nullopt;
  counts.workers = std::max(loader.workers(), 1);
  counts.seconds = samples.seconds() * counts.workers;
  if (emulated != nullptr) {
    add_requests(before, emulated->totals(), counts);
    return counts.requests > 0 ? std::optional(counts) : std::nullopt;
  }
  add_files(reads.count(), loader.counters().stages.front(), samples.read().size(), counts);
  counts.file_opens = in_stage(pipeline.stages().front(),
                               [&] { return files_opened(pipeline.source(), samples.read()); });
  // A sample that is read takes a read at least: fewer are others of the process.
  const bool reads_files = !samples.read().empty() && counts.file_reads >= samples.read().size();
  return reads_files ? std::optional(counts) : std::nullopt;
}

}  // namespace cachebisect
