// read.hdf5: items of a data set in an HDF5 file.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stages/datasets/hdf5_array.hpp"
#include "stages/datasets/label_numbers.hpp"

#include "cachebisect/data/sample_place.hpp"
#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

std::vector<std::int64_t> read_hdf5_labels(const std::string& file, const std::string& name,
                                           std::uint64_t samples) {
  const std::unique_ptr<Hdf5Array> array = open_hdf5(file, name, 0);
  try {
    check_labels(array->facts().dtype, array->facts().shape, samples, samples);
  } catch (const Error& error) {
    throw error.with_context(file + ": the data set \"" + name + "\"");
  }
  std::vector<std::byte> bytes(samples * size_of(array->facts().dtype));
  array->read(0, samples, bytes.data());
  std::vector<std::int64_t> labels;
  labels.reserve(samples);
  append_labels(array->facts().dtype, bytes, labels);
  return labels;
}

class Hdf5Source final : public SourceStage {
 public:
  explicit Hdf5Source(const Params& params)
      : path_(params.string("path")),
        name_(params.string("array")),
        labels_(params.string("labels")),
        cache_bytes_(static_cast<std::size_t>(params.number("chunk_cache_mb") * 1e6)) {}

  [[nodiscard]] SampleSpec infer() override {
    array_ = open_hdf5(path_, name_, cache_bytes_);
    item_ = Shape(array_->facts().shape.dims().subspan(1));
    SampleSpec spec{{"image", array_->facts().dtype, item_}};
    if (!labels_.empty()) spec.push_back({"label", DType::int64, {}});
    return spec;
  }

  void open() override {
    if (!labels_.empty()) numbers_ = read_hdf5_labels(path_, labels_, size());
  }

  [[nodiscard]] std::uint64_t size() const override {
    return array_ ? static_cast<std::uint64_t>(array_->facts().shape[0]) : 0;
  }

  void read(Sample& out, const SampleContext& context) const override {
    const std::uint64_t index = context.index();
    require_sample(index, size());
    out.set_origin(path_);
    const TensorView image = out.field("image").resize(array_->facts().dtype, item_);
    context.add_serial_seconds(array_->read(index, 1, image.data));
    if (!numbers_.empty()) out.field("label").set(numbers_[index]);
  }

  [[nodiscard]] std::vector<FileRange> files(SampleIndex index) const override {
    return array_->files(index);
  }

 private:
  std::string path_;
  std::string name_;
  std::string labels_;
  std::size_t cache_bytes_;
  std::unique_ptr<const Hdf5Array> array_;
  Shape item_;
  std::vector<std::int64_t> numbers_;
};

}  // namespace

void register_read_hdf5(Registry& registry) {
  registry.add(
      {.type = "read.hdf5",
       .doc = "Items of a data set in an HDF5 file: array, label. libhdf5 reads one at a time, "
              "whatever the number of workers",
       .kind = StageKind::source,
       .traits = {.allocates = true},
       .params = {{.name = "path", .type = ParamType::path, .doc = "the file"},
                  {.name = "array",
                   .type = ParamType::string,
                   .doc = "name of the data set in the file: images, train/images"},
                  {.name = "labels",
                   .type = ParamType::string,
                   .doc = "name of a data set in the same file with a whole number for each item; "
                          "empty: samples have none",
                   .default_value = ""},
                  {.name = "chunk_cache_mb",
                   .type = ParamType::number,
                   .doc = "MB of decoded chunks that libhdf5 keeps for all workers together; 1 is "
                          "the default of libhdf5 and h5py",
                   .default_value = 1.0,
                   .minimum = 0,
                   .maximum = 1e6}},
       .example = R"({"path": "${cache}/train.h5", "array": "images", "labels": "labels"})",
       .make = [](const Params& params) { return std::make_unique<Hdf5Source>(params); }});
}

}  // namespace cachebisect::stages
