// read.tfrecord: images and labels in TFRecord files of tf.train.Example.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stages/datasets/tf_example.hpp"
#include "stages/datasets/tfrecord_set.hpp"
#include "stages/datasets/whole_runs.hpp"
#include "stages/support/object_reader.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"
#include "cachebisect/pipeline/registry.hpp"
#include "cachebisect/pipeline/run_reader.hpp"
#include "cachebisect/shards/run_buffer.hpp"

namespace cachebisect::stages {
namespace {

const char* kind_name(TfFeature::Kind kind) {
  if (kind == TfFeature::Kind::bytes) return "bytes";
  return kind == TfFeature::Kind::floats ? "floats" : "whole numbers";
}

class TfRecordSource final : public SourceStage, public RunReader, public ObjectReader {
 public:
  explicit TfRecordSource(const Params& params)
      : ObjectReader(params),
        path_(params.string("path")),
        image_(params.string("image")),
        label_(params.string("label")),
        buffer_bytes_(static_cast<std::uint64_t>(params.number("shuffle_buffer_mb") * 1e6)) {
    if (image_.empty()) throw Error(ErrorKind::usage, R"("image" is empty; name a feature)");
  }

  [[nodiscard]] SampleSpec infer() override {
    SampleSpec spec{{"image", DType::uint8, {kDynamic}}};
    if (!label_.empty()) spec.push_back({"label", DType::int64, {}});
    return spec;
  }

  void open() override { open_with({}); }
  void open_with(const OpenContext& context) override {
    const std::uint64_t most = buffer_bytes_ / kWholeRunsAtLeast;
    const auto make = [&] {
      return TfRecordSet(
          {.path = path_, .most_unpacked = most, .store = make_store(path_, context.stop)},
          context);
    };
    const std::string key = path_ + '\0' + cache_key() + '\0' + std::to_string(most);
    set_ = context.shared ? context.shared->get<TfRecordSet>(key, make)
                          : std::make_shared<const TfRecordSet>(make());
    set_store(set_->store());
    if (set_->is_packed()) make_buffer();
  }

  [[nodiscard]] std::uint64_t size() const override { return set_ ? set_->size() : 0; }
  [[nodiscard]] std::string objects() const override { return set_ ? set_->objects() : ""; }

  [[nodiscard]] ReadRuns read_runs() const override { return runs_; }
  bool listen(Listener listener) override {
    if (buffer_) before_run_ = std::move(listener);
    return buffer_ != nullptr;
  }

  void read(Sample& out, const SampleContext& context) const override {
    count_sample();
    const TfRecordSet::Place place = set_->locate(context.index());
    out.set_origin(place.file->path());
    const std::uint64_t bytes = place.record.bytes + TfRecordSet::kTailBytes;
    if (buffer_) {
      const shards::RunBuffer::Lease lease = buffer_->get(place.file_number);
      const auto stored = lease.bytes().subspan(place.record.offset, bytes);
      return set_fields(place, TfRecordSet::checked(place, stored), out);
    }
    set_fields(place, TfRecordSet::read(place, context.arena().take(bytes)), out);
  }

  [[nodiscard]] std::vector<FileRange> files(SampleIndex index) const override {
    if (is_remote()) return {};
    const TfRecordSet::Place place = set_->locate(index);
    if (set_->is_packed()) return {share_of_file(place)};
    return {
        {place.file->path(), place.record.offset, place.record.bytes + TfRecordSet::kTailBytes}};
  }
  [[nodiscard]] std::uint64_t stored_bytes(SampleIndex index) const override {
    return set_->locate(index).record.bytes;
  }

 private:
  void set_fields(const TfRecordSet::Place& place, std::span<const std::byte> record,
                  Sample& out) const {
    const auto features = parse_example(record, image_, label_);
    if (!features) fail(place, "is no tf.train.Example");
    if (features->image.values != 1 || features->image.kind != TfFeature::Kind::bytes)
      refuse(place, record, features->image, image_, TfFeature::Kind::bytes);
    const std::span<const std::byte> image = features->image.bytes;
    if (image.empty()) fail(place, "has an image without bytes, under " + quote(image_));
    const TensorView field =
        out.field("image").resize(DType::uint8, {static_cast<std::int64_t>(image.size())});
    std::ranges::copy(image, field.data);
    if (label_.empty()) return;
    if (features->label.values != 1 || features->label.kind != TfFeature::Kind::integers)
      refuse(place, record, features->label, label_, TfFeature::Kind::integers);
    out.field("label").set(features->label.integer);
  }

  /// Each file is a run.
  void make_buffer() {
    const WholeRuns whole(
        {.count = set_->files(),
         .piece =
             [this](std::size_t file) {
               return WholePiece{set_->records(file), set_->bytes(file)};
             },
         .path = [this](std::size_t file) { return set_->path(file); },
         .why = "whole files are read as others are compressed; give more, or unpack those"},
        buffer_bytes_);
    runs_ = whole.runs;
    buffer_ = std::make_unique<shards::RunBuffer>(
        set_->files(), whole.slots, [this](std::uint64_t file, std::vector<std::byte>& out) {
          if (before_run_) before_run_(set_->stored_bytes(file));
          set_->read_whole(file, out);
        });
  }

  /// All of a compressed file is read for its records, each of which has an equal part.
  [[nodiscard]] FileRange share_of_file(const TfRecordSet::Place& place) const {
    const std::uint64_t bytes = set_->stored_bytes(place.file_number);
    const std::uint64_t records = set_->records(place.file_number);
    return share_of({place.file->path(), 0, bytes}, place.number, records);
  }

  [[noreturn]] void refuse(const TfRecordSet::Place& place, std::span<const std::byte> record,
                           const TfFeature& feature, const std::string& key,
                           TfFeature::Kind wanted) const {
    if (feature.kind == TfFeature::Kind::absent) {
      const auto all = parse_example(record, image_, label_, true);
      fail(place, "has no feature " + quote(key) + ", but " +
                      (all && !all->keys.empty() ? all->keys : "none at all") +
                      "; name the right one in \"" + (key == image_ ? "image" : "label") + "\"");
    }
    const std::string found = feature.kind == TfFeature::Kind::floats
                                  ? "floats"
                                  : std::to_string(feature.values) + " " + kind_name(feature.kind);
    fail(place, "has " + found + " under " + quote(key) + ", where one of " + kind_name(wanted) +
                    " is needed");
  }

  [[noreturn]] static void fail(const TfRecordSet::Place& place, const std::string& what) {
    throw Error(ErrorKind::data, place.file->path() + ": record " + std::to_string(place.number) +
                                     " (at byte " + std::to_string(place.record.offset) + ") " +
                                     what);
  }

  std::string path_;
  std::string image_;  ///< keys of features
  std::string label_;
  std::uint64_t buffer_bytes_;
  std::shared_ptr<const TfRecordSet> set_;  // of all variants of the pipeline
  ReadRuns runs_;
  Listener before_run_;
  std::unique_ptr<shards::RunBuffer> buffer_;  ///< null: records are read one by one
};

}  // namespace

void register_read_tfrecord(Registry& registry) {
  registry.add(
      {.type = "read.tfrecord",
       .doc = "Encoded images in TFRecord files of tf.train.Example: image bytes, label",
       .kind = StageKind::source,
       .traits = {},
       .params = with_object_cache(
           {{.name = "path",
             .type = ParamType::path,
             .doc = "file, folder of them (*.tfrecord, *.tfrecords, *.tfrec, "
                    "*-00000-of-00010, in natural order; or such with .gz), or pattern: "
                    "train-{00000..01023}-of-01024; or such a pattern of objects: https://, "
                    "s3://; of S3 also a folder with a slash at its end, or a pattern with "
                    "* for any characters but a slash. Those in files may be compressed with "
                    "gzip, if shuffle_buffer_mb holds four of them unpacked"},
            {.name = "image",
             .type = ParamType::string,
             .doc = "key of the feature with the image, one value of bytes",
             .default_value = std::string("image/encoded")},
            {.name = "label",
             .type = ParamType::string,
             .doc = "key of the feature with the label, one whole number; empty: samples have "
                    "none",
             .default_value = std::string("image/class/label")},
            {.name = "shuffle_buffer_mb",
             .type = ParamType::number,
             .doc = "MB in which whole files are shuffled if some are compressed; else "
                    "records are read one by one, in any order",
             .default_value = 0.0,
             .minimum = 0,
             .maximum = 1e6}}),
       .example = R"({"path": "${cache}/train-{00000..00009}-of-00010"})",
       .make = [](const Params& params) { return std::make_unique<TfRecordSource>(params); }});
}

}  // namespace cachebisect::stages
