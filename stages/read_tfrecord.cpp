// read.tfrecord: images and labels in TFRecord files of tf.train.Example.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stages/datasets/tf_example.hpp"
#include "stages/datasets/tfrecord_set.hpp"

#include "cachebisect/base/names.hpp"
#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

const char* kind_name(TfFeature::Kind kind) {
  if (kind == TfFeature::Kind::bytes) return "bytes";
  return kind == TfFeature::Kind::floats ? "floats" : "whole numbers";
}

class TfRecordSource final : public SourceStage {
 public:
  explicit TfRecordSource(const Params& params)
      : path_(params.string("path")),
        image_(params.string("image")),
        label_(params.string("label")) {
    if (image_.empty()) throw Error(ErrorKind::usage, R"("image" is empty; name a feature)");
  }

  [[nodiscard]] SampleSpec infer() override {
    SampleSpec spec{{"image", DType::uint8, {kDynamic}}};
    if (!label_.empty()) spec.push_back({"label", DType::int64, {}});
    return spec;
  }

  void open() override { open_with({}); }
  void open_with(const OpenContext& context) override {
    const auto make = [&] { return TfRecordSet(path_, context); };
    set_ = context.shared ? context.shared->get<TfRecordSet>(path_, make)
                          : std::make_shared<const TfRecordSet>(make());
  }

  [[nodiscard]] std::uint64_t size() const override { return set_ ? set_->size() : 0; }

  void read(Sample& out, const SampleContext& context) const override {
    const TfRecordSet::Place place = set_->locate(context.index());
    out.set_origin(place.file->path());
    const auto stored = context.arena().take(place.record.bytes + TfRecordSet::kTailBytes);
    const auto record = TfRecordSet::read(place, stored);
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

  [[nodiscard]] std::vector<FileRange> files(SampleIndex index) const override {
    const TfRecordSet::Place place = set_->locate(index);
    return {
        {place.file->path(), place.record.offset, place.record.bytes + TfRecordSet::kTailBytes}};
  }

 private:
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
  std::shared_ptr<const TfRecordSet> set_;  // of all variants of the pipeline
};

}  // namespace

void register_read_tfrecord(Registry& registry) {
  registry.add(
      {.type = "read.tfrecord",
       .doc = "Encoded images in TFRecord files of tf.train.Example: image bytes, label",
       .kind = StageKind::source,
       .traits = {},
       .params = {{.name = "path",
                   .type = ParamType::path,
                   .doc = "file that is not compressed, folder of them (*.tfrecord, *.tfrecords, "
                          "*.tfrec, *-00000-of-00010, in natural order), or pattern: "
                          "train-{00000..01023}-of-01024"},
                  {.name = "image",
                   .type = ParamType::string,
                   .doc = "key of the feature with the image, one value of bytes",
                   .default_value = std::string("image/encoded")},
                  {.name = "label",
                   .type = ParamType::string,
                   .doc =
                       "key of the feature with the label, one whole number; empty: samples have "
                       "none",
                   .default_value = std::string("image/class/label")}},
       .example = R"({"path": "${cache}/train-{00000..00009}-of-00010"})",
       .make = [](const Params& params) { return std::make_unique<TfRecordSource>(params); }});
}

}  // namespace cachebisect::stages
