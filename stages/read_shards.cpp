// read.shards: a data set that `cachebisect prepare` wrote.
#include <algorithm>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "stages/support/object_reader.hpp"
#include "stages/support/param_specs.hpp"

#include "cachebisect/pipeline/registry.hpp"
#include "cachebisect/pipeline/run_reader.hpp"
#include "cachebisect/shards/packed_sample.hpp"
#include "cachebisect/shards/record_codec.hpp"
#include "cachebisect/shards/record_set.hpp"
#include "cachebisect/shards/run_buffer.hpp"
#include "cachebisect/shards/run_sizes.hpp"
#include "cachebisect/shards/shard_set.hpp"

namespace cachebisect::stages {
namespace {

/// Also as a pipeline file in the folder itself names it, "folder/.".
std::string folder_of(std::string path) {
  if (!is_remote_path(path)) {
    while (path.size() > 2 && path.ends_with("/.")) path.resize(path.size() - 2);
    return path;
  }
  return object_folder(std::move(path), "index.json and the shards");
}

/// What the index says, and where it was found.
struct FoundSet {
  std::shared_ptr<const RemoteStore> store;  ///< null: the set lies in files
  shards::ShardSet set;
};

class ShardsSource final : public SourceStage, public RunReader, public ObjectReader {
 public:
  explicit ShardsSource(const Params& params)
      : ObjectReader(params),
        path_(folder_of(params.string("path"))),
        buffer_bytes_(params.number("shuffle_buffer_mb") * 1e6) {}

  void look_up(const OpenContext& context) override {
    const auto find = [&] {
      FoundSet found{.store = make_store(path_, context.stop), .set = {}};
      found.set = shards::load_shard_set(path_, found.store);
      return found;
    };
    found_ = context.shared ? context.shared->get<FoundSet>(set_key(), find)
                            : std::make_shared<const FoundSet>(find());
    set_store(found_->store);
  }

  [[nodiscard]] SampleSpec infer() override {
    if (!found_) look_up({});
    packed_ = std::make_unique<const shards::PackedSample>(set().spec);
    try {
      codec_ = shards::make_codec(set().codec);
    } catch (const Error& error) {
      throw Error(ErrorKind::data,
                  shown_path(path_) + "/" + shards::kIndexName + ": " + error.what());
    }
    return set().spec;
  }

  void open() override { open_with({}); }
  void open_with(const OpenContext& context) override {
    const auto make = [&] { return shards::RecordSet(path_, set(), found_->store, context.stop); };
    records_ = context.shared ? context.shared->get<shards::RecordSet>(set_key(), make)
                              : std::make_shared<const shards::RecordSet>(make());
    for (std::uint64_t i = 0; i < size(); ++i) check_size(records_->locate(i));
    if (buffer_bytes_ > 0) make_buffer();
  }

  [[nodiscard]] std::uint64_t size() const override { return records_ ? records_->size() : 0; }
  [[nodiscard]] bool generated() const override { return set().generated; }
  [[nodiscard]] std::string objects() const override { return records_ ? records_->objects() : ""; }
  [[nodiscard]] ReadRuns read_runs() const override { return runs_; }
  bool listen(Listener listener) override {
    if (buffer_) before_run_ = std::move(listener);
    return buffer_ != nullptr;
  }

  void read(Sample& out, const SampleContext& context) const override {
    count_sample();
    const Place place = records_->locate(context.index());
    out.set_origin(place.shard->file().path());
    const shards::ShardEntry& entry = place.entry();
    if (!buffer_) {
      const std::span<std::byte> stored = context.arena().take(entry.stored_bytes);
      place.shard->read(place.record, stored);
      return unpack(stored, place, context, out);
    }
    const std::uint64_t run = context.index() / runs_.samples;
    const shards::RunBuffer::Lease lease = buffer_->get(run);
    const std::uint64_t at = place.first_byte - records_->locate(run * runs_.samples).first_byte;
    const auto stored = lease.bytes().subspan(at, entry.stored_bytes);
    place.shard->check(place.record, stored);
    unpack(stored, place, context, out);
  }

  [[nodiscard]] std::vector<FileRange> files(SampleIndex index) const override {
    if (is_remote()) return {};
    const Place place = records_->locate(index);
    return {{place.shard->file().path(), place.entry().offset, place.entry().stored_bytes}};
  }
  [[nodiscard]] std::uint64_t stored_bytes(SampleIndex index) const override {
    return records_->locate(index).entry().stored_bytes;
  }

 private:
  using Place = shards::RecordSet::Place;

  [[nodiscard]] std::string set_key() const { return path_ + '\0' + cache_key(); }
  /// The set that was looked up.
  [[nodiscard]] const shards::ShardSet& set() const noexcept { return found_->set; }

  /// A record claims its size: nothing is allocated for more than a sample may have.
  void check_size(const Place& place) const {
    const std::uint32_t bytes = place.entry().record_bytes;
    const bool is_stored = codec_->compresses() || place.entry().stored_bytes == bytes;
    if (packed_->bytes().value_or(bytes) == bytes && bytes <= shards::kMostRecordBytes && is_stored)
      return;
    throw Error(ErrorKind::data,
                place.shard->file().path() + ": record " + std::to_string(place.record) + " has " +
                    std::to_string(bytes) + " bytes, which does not match its fields");
  }

  void make_buffer() {
    const shards::RunSizes sizes = shards::run_sizes(size(), records_->bytes(), buffer_bytes_);
    runs_ = {.samples = sizes.samples, .mixed = sizes.mixed};
    buffer_ = std::make_unique<shards::RunBuffer>(
        sizes.runs, sizes.slots,
        [this](std::uint64_t run, std::vector<std::byte>& bytes) { read_run(run, bytes); });
  }

  void read_run(std::uint64_t run, std::vector<std::byte>& bytes) const {
    const std::uint64_t first = run * runs_.samples;
    const std::uint64_t end = std::min(size(), first + runs_.samples);
    const std::uint64_t begin = records_->locate(first).first_byte;
    bytes.resize((end == size() ? records_->bytes() : records_->locate(end).first_byte) - begin);
    if (before_run_) before_run_(bytes.size());
    records_->read(begin, bytes);
  }

  void unpack(std::span<const std::byte> stored, const Place& place, const SampleContext& context,
              Sample& out) const {
    bool right = false;
    if (codec_->compresses()) {
      const std::span<std::byte> record = context.arena().take(place.entry().record_bytes);
      right = codec_->expand(stored, record) && packed_->unpack(record, out);
    } else {
      right = packed_->unpack(stored, out);
    }
    if (right) return;
    throw Error(ErrorKind::data,
                place.shard->file().path() + ": record " + std::to_string(place.record) +
                    " is no sample of its fields; prepare the data set in another folder");
  }

  std::string path_;
  double buffer_bytes_;
  std::unique_ptr<const shards::PackedSample> packed_;
  std::unique_ptr<const shards::RecordCodec> codec_;
  std::shared_ptr<const FoundSet> found_;             // of all variants of the pipeline
  std::shared_ptr<const shards::RecordSet> records_;  // likewise
  ReadRuns runs_;
  Listener before_run_;
  std::unique_ptr<shards::RunBuffer> buffer_;  ///< null: samples are read one by one
};

}  // namespace

void register_read_shards(Registry& registry) {
  registry.add(
      {.type = "read.shards",
       .doc = "A data set that `cachebisect prepare` wrote: samples of any stage's output",
       .kind = StageKind::source,
       .traits = {},
       .params = with_object_cache(
           {{.name = "path",
             .type = ParamType::path,
             .doc = "folder with index.json and the shards, or its address on a server: https://, "
                    "s3://"},
            shuffle_buffer_param()}),
       .example = R"({"path": "${cache}/prepared"})",
       .make = [](const Params& params) { return std::make_unique<ShardsSource>(params); }});
}

}  // namespace cachebisect::stages
