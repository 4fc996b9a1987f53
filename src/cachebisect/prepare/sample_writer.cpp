#include "cachebisect/prepare/sample_writer.hpp"

#include <algorithm>
#include <utility>

#include "cachebisect/base/parallel.hpp"

namespace cachebisect::prepare {
namespace {

/// Samples that are made before they are written, in their order.
constexpr std::uint64_t kPiece = 1024;
constexpr std::size_t kPieceBytes = std::size_t{64} << 20U;
constexpr std::uint64_t kLeastPiece = 16;

/// So many that they take about kPieceBytes, by the samples before.
std::uint64_t next_piece(std::uint64_t samples, std::uint64_t bytes) {
  if (bytes == 0) return kLeastPiece;
  return std::clamp(samples * kPieceBytes / bytes, kLeastPiece, kPiece);
}

}  // namespace

SampleWriter::SampleWriter(const Pipeline& pipeline, std::size_t stages,
                           shards::ShardSetWriter& out)
    : pipeline_(pipeline),
      stages_(stages),
      out_(out),
      packed_(pipeline.stages()[stages - 1].output),
      codec_(shards::make_codec(out.set().codec)) {}

void SampleWriter::run(const std::stop_token& stop,
                       const std::function<void(std::uint64_t)>& progress) {
  std::vector<Record> records;
  std::uint64_t piece = kLeastPiece;
  while (out_.next_sample() < out_.set().source_samples) {
    const std::uint64_t end = out_.end_of_shard();
    for (std::uint64_t first = out_.next_sample(); first < end;) {
      const std::uint64_t count = std::min(piece, end - first);
      records.resize(std::max<std::size_t>(records.size(), count));
      parallel_for(count, 1, stop, [&](std::uint64_t i) { make({first + i}, records[i]); });
      std::uint64_t bytes = 0;
      for (std::uint64_t i = 0; i < count; ++i) {
        if (!records[i].is_left_out) out_.append(records[i].stored, records[i].bytes);
        bytes += records[i].bytes;
      }
      piece = next_piece(count, bytes);
      first += count;
      progress(first);
    }
    out_.end_shard();
  }
}

void SampleWriter::make(SampleIndex index, Record& record) {
  std::unique_ptr<Tools> tools = take_tools();
  const Sample* const sample = tools->chain.run(index);
  record.is_left_out = sample == nullptr;
  record.bytes = 0;
  if (sample != nullptr && codec_->compresses()) {
    packed_.pack(*sample, tools->record);
    codec_->compress(tools->record, record.stored);
    record.bytes = tools->record.size();
  } else if (sample != nullptr) {
    packed_.pack(*sample, record.stored);
    record.bytes = record.stored.size();
  }
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(tools));
}

std::unique_ptr<SampleWriter::Tools> SampleWriter::take_tools() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return std::make_unique<Tools>(pipeline_, stages_);
  std::unique_ptr<Tools> tools = std::move(idle_.back());
  idle_.pop_back();
  return tools;
}

}  // namespace cachebisect::prepare
