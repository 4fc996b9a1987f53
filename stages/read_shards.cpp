// read.shards: a data set that `cachebisect prepare` wrote.
#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "cachebisect/pipeline/registry.hpp"
#include "cachebisect/shards/packed_sample.hpp"
#include "cachebisect/shards/record_codec.hpp"
#include "cachebisect/shards/shard_file.hpp"
#include "cachebisect/shards/shard_set.hpp"

namespace cachebisect::stages {
namespace {

using shards::ShardFile;

class ShardsSource final : public SourceStage {
 public:
  explicit ShardsSource(const Params& params)
      : path_(std::filesystem::path(params.string("path")).lexically_normal().string()) {
    if (path_.size() > 1 && path_.ends_with('/')) path_.pop_back();
  }

  [[nodiscard]] SampleSpec infer() override {
    set_ = shards::load_shard_set(path_);
    packed_ = std::make_unique<const shards::PackedSample>(set_.spec);
    codec_ = shards::make_codec(set_.codec);
    return set_.spec;
  }

  void open() override {
    shards_.clear();
    ends_.clear();
    for (const shards::ShardFacts& facts : set_.shards) add(facts);
    if (size() == 0) throw Error(ErrorKind::data, path_ + ": has no samples");
  }

  [[nodiscard]] std::uint64_t size() const override { return ends_.empty() ? 0 : ends_.back(); }
  [[nodiscard]] bool generated() const override { return set_.generated; }

  void read(Sample& out, const SampleContext& context) const override {
    const auto [shard, record] = locate(context.index());
    out.set_origin(shard->file().path());
    const shards::ShardEntry& entry = shard->entry(record);
    const std::span<std::byte> stored = context.arena().take(entry.stored_bytes);
    shard->read(record, stored);
    if (!codec_->compresses()) return unpack(stored, *shard, record, out);
    const std::span<std::byte> expanded = context.arena().take(entry.record_bytes);
    if (!codec_->expand(stored, expanded)) refuse(*shard, record);
    unpack(expanded, *shard, record, out);
  }

  [[nodiscard]] std::vector<FileRange> files(SampleIndex index) const override {
    const auto [shard, record] = locate(index);
    const shards::ShardEntry& entry = shard->entry(record);
    return {{shard->file().path(), entry.offset, entry.stored_bytes}};
  }

 private:
  void add(const shards::ShardFacts& facts) {
    const std::string file = path_ + "/" + facts.file;
    shards_.emplace_back(file);
    const ShardFile& shard = shards_.back();
    if (shard.records() != facts.samples ||
        shards::checksum_text(shard.index_checksum()) != facts.index_checksum) {
      throw Error(ErrorKind::data, file + ": is not the shard that " + shards::kIndexName +
                                       " names; prepare the data set again");
    }
    check_sizes(shard);
    ends_.push_back(size() + shard.records());
  }

  /// A record claims its size: nothing is allocated for more than a sample may have.
  void check_sizes(const ShardFile& shard) const {
    constexpr std::uint32_t kMostBytes = std::uint32_t{1} << 30U;
    for (std::uint64_t i = 0; i < shard.records(); ++i) {
      const std::uint32_t bytes = shard.entry(i).record_bytes;
      if (packed_->bytes().value_or(bytes) != bytes || bytes > kMostBytes) {
        throw Error(ErrorKind::data, shard.file().path() + ": record " + std::to_string(i) +
                                         " has " + std::to_string(bytes) +
                                         " bytes, which its fields do not");
      }
    }
  }

  [[nodiscard]] std::pair<const ShardFile*, std::uint64_t> locate(std::uint64_t index) const {
    const auto at = std::ranges::upper_bound(ends_, index);
    if (at == ends_.end()) {
      throw Error(ErrorKind::internal, "sample " + std::to_string(index) + " of " +
                                           std::to_string(size()) + " was requested");
    }
    const auto number = static_cast<std::size_t>(at - ends_.begin());
    return {&shards_[number], index - (number == 0 ? 0 : ends_[number - 1])};
  }

  void unpack(std::span<const std::byte> record, const ShardFile& shard, std::uint64_t number,
              Sample& out) const {
    if (!packed_->unpack(record, out)) refuse(shard, number);
  }

  [[noreturn]] static void refuse(const ShardFile& shard, std::uint64_t record) {
    throw Error(ErrorKind::data, shard.file().path() + ": record " + std::to_string(record) +
                                     " is no sample of its fields; prepare the data set again");
  }

  std::string path_;
  shards::ShardSet set_;
  std::unique_ptr<const shards::PackedSample> packed_;
  std::unique_ptr<const shards::RecordCodec> codec_;
  std::vector<ShardFile> shards_;
  std::vector<std::uint64_t> ends_;  // samples up to the end of each shard
};

}  // namespace

void register_read_shards(Registry& registry) {
  registry.add(
      {.type = "read.shards",
       .doc = "A data set that `cachebisect prepare` wrote: samples of any stage's output",
       .kind = StageKind::source,
       .traits = {},
       .params = {{.name = "path",
                   .type = ParamType::path,
                   .doc = "folder with index.json and the shards"}},
       .example = R"({"path": "${cache}/prepared"})",
       .make = [](const Params& params) { return std::make_unique<ShardsSource>(params); }});
}

}  // namespace cachebisect::stages
