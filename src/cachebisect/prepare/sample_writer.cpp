#include "cachebisect/prepare/sample_writer.hpp"

#include <algorithm>
#include <memory>

#include "cachebisect/base/parallel.hpp"

namespace cachebisect::prepare {
namespace {

/// Samples that are made before they are written, in their order.
constexpr std::uint64_t kPiece = 1024;
/// Bytes that may wait to be written: no more samples are begun then.
constexpr std::size_t kMostWaiting = std::size_t{64} << 20U;

}  // namespace

SampleWriter::SampleWriter(const Pipeline& pipeline, std::size_t stages, std::uint64_t shard_bytes,
                           shards::ShardSetWriter& out)
    : pipeline_(pipeline),
      stages_(stages),
      shard_bytes_(shard_bytes),
      out_(out),
      packed_(pipeline.stages()[stages - 1].output),
      codec_(shards::make_codec(out.set().codec)),
      records_(kPiece) {}

void SampleWriter::run(const std::stop_token& stop,
                       const std::function<void(std::uint64_t)>& progress) {
  const std::uint64_t samples = out_.set().source_samples;
  for (std::uint64_t next = out_.next_sample(); next < samples;) {
    const std::uint64_t count = std::min(kPiece, samples - next);
    make_piece(next, count, stop);
    next = write_piece(next, count);
    progress(next);
  }
}

void SampleWriter::make_piece(std::uint64_t first, std::uint64_t count,
                              const std::stop_token& stop) {
  waiting_bytes_ = 0;
  for (std::uint64_t i = 0; i < count; ++i) records_[i].is_made = false;
  parallel_for(count, 1, stop, [&](std::uint64_t i) {
    if (waiting_bytes_ < kMostWaiting) make({first + i}, records_[i]);
  });
}

std::uint64_t SampleWriter::write_piece(std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    Record& record = records_[i];
    const std::uint64_t behind = first + i + 1;
    if (!record.is_made) return first + i;
    if (!record.is_left_out) out_.append(record.stored, record.bytes);
    if (record.stored.capacity() > kMostWaiting / kPiece) record.stored = {};
    if (out_.shard_bytes() < shard_bytes_ && behind < out_.set().source_samples) continue;
    out_.end_shard(behind);
    // Whole shards of an earlier run may lie behind this one.
    if (out_.next_sample() != behind) return out_.next_sample();
  }
  return first + count;
}

void SampleWriter::make(SampleIndex index, Record& record) {
  const auto tools = tools_.borrow([this] { return std::make_unique<Tools>(pipeline_, stages_); });
  const Sample* const sample = tools->chain.run(index);
  record.is_left_out = sample == nullptr;
  record.bytes = 0;
  if (sample != nullptr && codec_->compresses()) {
    packed_.pack(*sample, tools->record);
    codec_->compress(tools->record, tools->compressed);
    record.stored.assign(tools->compressed.begin(), tools->compressed.end());
    record.bytes = tools->record.size();
  } else if (sample != nullptr) {
    packed_.pack(*sample, record.stored);
    record.bytes = record.stored.size();
  }
  if (sample != nullptr) waiting_bytes_ += record.stored.size();
  record.is_made = true;
}

}  // namespace cachebisect::prepare
