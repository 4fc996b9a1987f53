// Runs the first stages of a chain on all cores, and writes their samples as shards.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "cachebisect/base/object_pool.hpp"
#include "cachebisect/prepare/chain_prefix.hpp"
#include "cachebisect/shards/packed_sample.hpp"
#include "cachebisect/shards/record_codec.hpp"
#include "cachebisect/shards/shard_set_writer.hpp"

namespace cachebisect::prepare {

/// Keeps references to the pipeline and the writer.
class SampleWriter {
 public:
  /// `shard_bytes`: a shard ends with the sample that reaches them.
  SampleWriter(const Pipeline& pipeline, std::size_t stages, std::uint64_t shard_bytes,
               shards::ShardSetWriter& out);

  /// Writes all samples that are not written yet. `progress` gets the number of those that are.
  void run(const std::stop_token& stop, const std::function<void(std::uint64_t)>& progress);

 private:
  struct Record {
    std::vector<std::byte> stored;
    std::size_t bytes = 0;
    bool is_made = false;  ///< or found to be damaged
    bool is_left_out = false;
  };
  /// What one thread uses at a time.
  struct Tools {
    Tools(const Pipeline& pipeline, std::size_t stages) : chain(pipeline, stages) {}
    ChainPrefix chain;
    std::vector<std::byte> record;
    std::vector<std::byte> compressed;
  };

  /// Makes records from sample `first` on, until `count` of them, or as many bytes as may wait.
  void make_piece(std::uint64_t first, std::uint64_t count, const std::stop_token& stop);
  /// Writes those that were made, from `first` on, up to the first gap. Returns the sample to go on
  /// with.
  std::uint64_t write_piece(std::uint64_t first, std::uint64_t count);
  void make(SampleIndex index, Record& record);

  const Pipeline& pipeline_;
  std::size_t stages_;
  std::uint64_t shard_bytes_;
  shards::ShardSetWriter& out_;
  shards::PackedSample packed_;
  std::unique_ptr<shards::RecordCodec> codec_;
  std::vector<Record> records_;
  std::atomic<std::size_t> waiting_bytes_{0};  ///< of records that are not written yet
  ObjectPool<Tools> tools_;
};

}  // namespace cachebisect::prepare
