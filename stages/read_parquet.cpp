// read.parquet: a column of images or numbers, and labels, in Parquet files.
#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stages/datasets/parquet_set.hpp"
#include "stages/datasets/whole_runs.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/pipeline/registry.hpp"
#include "cachebisect/pipeline/run_reader.hpp"
#include "cachebisect/shards/run_buffer.hpp"

namespace cachebisect::stages {
namespace {

class ParquetSource final : public SourceStage, public RunReader {
 public:
  explicit ParquetSource(const Params& params)
      : path_(params.string("path")),
        columns_{params.string("image"), params.string("label")},
        buffer_bytes_(static_cast<std::uint64_t>(params.number("shuffle_buffer_mb") * 1e6)) {
    if (columns_.image.empty()) throw Error(ErrorKind::usage, R"("image" is empty; name a column)");
  }

  [[nodiscard]] SampleSpec infer() override {
    row_ = ParquetSet::look_at(path_, columns_);
    SampleSpec spec{{"image", row_.dtype, row_.shape}};
    if (!columns_.label.empty()) spec.push_back({"label", DType::int64, {}});
    return spec;
  }

  void open() override { open_with({}); }
  void open_with(const OpenContext& context) override {
    const auto make = [&] { return ParquetSet(path_, columns_, context); };
    const std::string key = path_ + '\0' + columns_.image + '\0' + columns_.label;
    set_ = context.shared ? context.shared->get<ParquetSet>(key, make)
                          : std::make_shared<const ParquetSet>(make());
    make_buffer();
  }

  [[nodiscard]] std::uint64_t size() const override { return set_ ? set_->size() : 0; }
  [[nodiscard]] ReadRuns read_runs() const override { return runs_; }
  bool listen(Listener listener) override {
    before_run_ = std::move(listener);
    return true;
  }

  void read(Sample& out, const SampleContext& context) const override {
    const ParquetSet::Place place = set_->locate(context.index());
    out.set_origin(set_->path(place.group));
    const shards::RunBuffer::Lease lease = buffer_->get(place.group);
    const RowBlock block = set_->block(place.group);
    const std::span<const std::byte> value = block.value(lease.bytes(), place.row);
    const Shape shape =
        block.is_fixed() ? row_.shape : Shape{static_cast<std::int64_t>(value.size())};
    std::ranges::copy(value, out.field("image").resize(row_.dtype, shape).data);
    if (block.has_labels()) out.field("label").set(RowBlock::label(lease.bytes(), place.row));
  }

  [[nodiscard]] std::vector<FileRange> files(SampleIndex index) const override {
    return set_->files(set_->locate(index));
  }

 private:
  /// Each row group is a run.
  void make_buffer() {
    const WholeRuns groups(
        {.count = set_->groups(),
         .piece =
             [this](std::size_t group) {
               return WholePiece{set_->block(group).rows(), set_->bytes(group)};
             },
         .path = [this](std::size_t group) { return set_->path(group); },
         .name = "a row group of ",
         .why = "whole groups are read; give more, or write it with smaller groups"},
        buffer_bytes_);
    runs_ = groups.runs;
    const std::uint64_t most_bytes = buffer_bytes_ / groups.slots;
    buffer_ = std::make_unique<shards::RunBuffer>(
        set_->groups(), groups.slots,
        [this, most_bytes](std::uint64_t group, std::vector<std::byte>& out) {
          if (before_run_) before_run_(set_->stored_bytes(group));
          set_->read(group, most_bytes, out);
        });
  }

  std::string path_;
  ParquetColumns columns_;
  std::uint64_t buffer_bytes_;
  ParquetRow row_;
  std::shared_ptr<const ParquetSet> set_;  // of all variants of the pipeline
  ReadRuns runs_;
  Listener before_run_;
  std::unique_ptr<shards::RunBuffer> buffer_;
};

}  // namespace

void register_read_parquet(Registry& registry) {
  registry.add(
      {.type = "read.parquet",
       .doc = "A column of encoded images or of numbers in Parquet files: image, label. Row groups "
              "are read as a whole, and shuffled within a buffer",
       .kind = StageKind::source,
       .traits = {.allocates = true},
       .params =
           {{.name = "path",
             .type = ParamType::path,
             .doc = "file, folder of them (*.parquet, in natural order), or pattern: "
                    "train-{00000..00099}-of-00100.parquet"},
            {.name = "image",
             .type = ParamType::string,
             .doc = "column of the sample: bytes, a number, or lists of numbers of one length. A "
                    "column with parts stands for its part \"bytes\"",
             .default_value = std::string("image")},
            {.name = "label",
             .type = ParamType::string,
             .doc = "column of the label, a whole number; empty: samples have none",
             .default_value = std::string("label")},
            {.name = "shuffle_buffer_mb",
             .type = ParamType::number,
             .doc = "MB of decoded row groups that are kept and shuffled within; at least four of "
                    "the largest",
             .default_value = 512.0,
             .minimum = 1,
             .maximum = 1e6}},
       .example = R"({"path": "${cache}/train-{00000..00099}-of-00100.parquet"})",
       .make = [](const Params& params) { return std::make_unique<ParquetSource>(params); }});
}

}  // namespace cachebisect::stages
