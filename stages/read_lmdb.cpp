// read.lmdb: images and labels in an LMDB file, as common scripts pack ImageNet.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stages/datasets/labelled_value.hpp"
#include "stages/datasets/lmdb_file.hpp"

#include "cachebisect/base/names.hpp"
#include "cachebisect/data/sample_place.hpp"
#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

/// As of an image in a file of its own.
constexpr std::uint64_t kMostValueBytes = std::uint64_t{1} << 30U;

enum class LabelPlace { none, key, pickle, datum };

LabelPlace label_place(const std::string& name) {
  if (name == "pickle") return LabelPlace::pickle;
  if (name == "datum") return LabelPlace::datum;
  return name == "key" ? LabelPlace::key : LabelPlace::none;
}

class LmdbSource final : public SourceStage {
 public:
  explicit LmdbSource(const Params& params)
      : path_(params.string("path")), place_(label_place(params.string("label"))) {}

  [[nodiscard]] SampleSpec infer() override {
    SampleSpec spec{{"image", DType::uint8, {kDynamic}}};
    if (place_ != LabelPlace::none) spec.push_back({"label", DType::int64, {}});
    return spec;
  }

  void open() override { open_with({}); }
  void open_with(const OpenContext& context) override {
    const auto list = [&] { return LmdbFile(path_, context); };
    file_ = context.shared ? context.shared->get<LmdbFile>(path_, list)
                           : std::make_shared<const LmdbFile>(list());
  }

  [[nodiscard]] std::uint64_t size() const override { return file_ ? file_->size() : 0; }

  void read(Sample& out, const SampleContext& context) const override {
    const std::uint64_t index = context.index();
    require_sample(index, size());
    out.set_origin({.folder = file_->path(), .name = file_->key(index)});
    const std::uint64_t bytes = file_->value_bytes(index);
    if (bytes > kMostValueBytes)
      fail(index, "has " + std::to_string(bytes) + " bytes, more than an image may have");
    if (place_ == LabelPlace::none || place_ == LabelPlace::key) {
      read_plain(index, image_of(out, bytes));
      if (place_ == LabelPlace::key) out.field("label").set(label_of_key(index));
      return;
    }
    const std::span<std::byte> value = context.arena().take(bytes);
    file_->read(index, value);
    const auto parsed =
        place_ == LabelPlace::pickle ? parse_pickled_pair(value) : parse_datum(value);
    if (!parsed) {
      fail(index, place_ == LabelPlace::pickle
                      ? "is no pickled (image bytes, label); is \"label\" right?"
                      : "is no Datum with an encoded image; is \"label\" right?");
    }
    if (parsed->image.empty()) fail(index, "has an image without bytes");
    std::ranges::copy(parsed->image, image_of(out, parsed->image.size()).begin());
    out.field("label").set(parsed->label);
  }

  [[nodiscard]] std::vector<FileRange> files(SampleIndex index) const override {
    return {{file_->path(), file_->value_offset(index), file_->value_bytes(index)}};
  }

 private:
  static std::span<std::byte> image_of(Sample& out, std::uint64_t bytes) {
    const TensorView image =
        out.field("image").resize(DType::uint8, {static_cast<std::int64_t>(bytes)});
    return {image.data, static_cast<std::size_t>(bytes)};
  }

  void read_plain(std::uint64_t index, std::span<std::byte> image) const {
    if (image.empty()) fail(index, "has no bytes");
    file_->read(index, image);
  }

  [[nodiscard]] std::int64_t label_of_key(std::uint64_t index) const {
    const auto label = leading_number(file_->key(index));
    if (!label) fail(index, "has a key that begins with no whole number; is \"label\" right?");
    return *label;
  }

  [[noreturn]] void fail(std::uint64_t index, const std::string& what) const {
    throw Error(ErrorKind::data,
                file_->path() + ": the value of " + quote(file_->key(index)) + " " + what);
  }

  std::string path_;
  LabelPlace place_;
  std::shared_ptr<const LmdbFile> file_;  // of all variants of the pipeline
};

}  // namespace

void register_read_lmdb(Registry& registry) {
  registry.add(
      {.type = "read.lmdb",
       .doc = "Encoded images in an LMDB file, in the order of their keys: image bytes, label",
       .kind = StageKind::source,
       .traits = {},
       .params = {{.name = "path",
                   .type = ParamType::path,
                   .doc = "the file, or the folder of its data.mdb; entries whose keys begin with "
                          "__ are passed over"},
                  {.name = "label",
                   .type = ParamType::string,
                   .doc = "where the label is. pickle: values are pickled (image bytes, label), as "
                          "folder2lmdb.py writes them; datum: values are Caffe's Datum, encoded; "
                          "key: the whole number at the beginning of the key, values are images; "
                          "none: values are images",
                   .default_value = std::string("pickle"),
                   .choices = {"pickle", "datum", "key", "none"}}},
       .example = R"({"path": "${cache}/train.lmdb"})",
       .make = [](const Params& params) { return std::make_unique<LmdbSource>(params); }});
}

}  // namespace cachebisect::stages
