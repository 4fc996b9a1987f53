// read.zarr: items or windows of a Zarr array.
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stages/datasets/chunk_files.hpp"
#include "stages/datasets/data_folder.hpp"
#include "stages/datasets/generate_zarr.hpp"
#include "stages/datasets/window_grid.hpp"
#include "stages/datasets/window_labels.hpp"
#include "stages/datasets/window_params.hpp"
#include "stages/datasets/zarr_reader.hpp"
#include "stages/support/object_reader.hpp"

#include "cachebisect/data/sample_place.hpp"
#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

using Store = std::shared_ptr<const RemoteStore>;

/// An array of labels; one for each chunk.
LabelArray open_zarr_labels(const std::string& path, const Store& store) {
  const auto reader =
      std::make_shared<const ZarrReader>(load_zarr_array(path, ChunkFiles(store)), 0, store);
  reader->require_chunks();
  const ZarrArray& array = reader->array();
  return {.what = shown_path(path),
          .dtype = array.dtype,
          .shape = array.shape,
          .piece = array.chunk[0],
          .read = [reader](const ArrayBox& box, std::span<std::byte> out) {
            reader->read(box, out.data());
          }};
}

/// What the metadata says, and where it was found.
struct FoundArray {
  Store store;  ///< null: files
  ZarrArray array;
};

class ZarrSource final : public SourceStage, public ObjectReader {
 public:
  explicit ZarrSource(const Params& params)
      : ObjectReader(params),
        path_(params.string("path")),
        array_(params.string("array")),
        labels_(params.string("labels")),
        extents_(window_extents(params)),
        cache_bytes_(static_cast<std::size_t>(params.number("chunk_cache_mb") * 1e6)),
        generate_(generate_if_missing(params)),
        generated_samples_(static_cast<std::uint64_t>(params.integer("generated_samples"))) {
    if (generate_ && array_ != kGeneratedImages)
      throw Error(ErrorKind::usage,
                  "what is generated is the array \"images\"; name it as \"array\"");
    if (!is_remote_path(path_)) return;
    if (generate_) {
      throw Error(ErrorKind::usage, shown_path(path_) +
                                        ": what is generated is a local folder; give its path, or "
                                        "leave out \"if_missing\"");
    }
    path_ = object_folder(std::move(path_), "the array or its group");
  }

  void look_up(const OpenContext& context) override {
    const auto find = [&] {
      FoundArray found{.store = make_store(path_, context.stop), .array = {}};
      found.array = load_zarr_array(array_path(), ChunkFiles(found.store));
      return found;
    };
    if (!is_remote_path(path_)) {
      // Refuses a cache of files.
      static_cast<void>(make_store(path_, context.stop));
      return;
    }
    const std::string key = array_path() + '\0' + cache_key();
    found_ = context.shared ? context.shared->get<FoundArray>(key, find)
                            : std::make_shared<const FoundArray>(find());
    set_store(found_->store);
  }

  [[nodiscard]] SampleSpec infer() override {
    if (!found_) look_up({});
    const bool will_be_made = generate_ && is_absent(path_);
    const ZarrArray array = will_be_made ? generated_images(generated_samples_) : load();
    grid_.emplace(array.shape, extents_.window, extents_.step);
    require_sample_fits(*grid_, size_of(array.dtype), shown_path(array_path()));
    SampleSpec spec{{"image", array.dtype, grid_->sample_shape()}};
    if (!labels_.empty()) spec.push_back({"label", DType::int64, {}});
    return spec;
  }

  void open() override { open_with({}); }
  void open_with(const OpenContext& context) override {
    if (!is_remote()) generate(context.stop);
    ZarrArray array = load();
    origin_ = shown_path(array.path);
    if (WindowGrid(array.shape, extents_.window, extents_.step).size() != grid_->size())
      throw Error(ErrorKind::data,
                  shown_path(array.path) + ": is not the array that it was a moment ago");
    reader_ = std::make_unique<const ZarrReader>(std::move(array), cache_bytes_, store());
    reader_->require_chunks();
    if (is_remote()) objects_ = found_->array.object + '\n' + reader_->some_objects();
    if (labels_.empty()) return;
    const std::string path = labels_path();
    numbers_ = WindowLabels([&] { return open_zarr_labels(path, store()); }, path, *grid_, context);
  }

  [[nodiscard]] std::uint64_t size() const override { return grid_ ? grid_->size() : 0; }
  [[nodiscard]] bool generated() const override { return generated_; }
  [[nodiscard]] std::string objects() const override { return objects_; }

  void read(Sample& out, const SampleContext& context) const override {
    const std::uint64_t index = context.index();
    require_sample(index, size());
    count_sample();
    out.set_origin(origin_);
    const TensorView image =
        out.field("image").resize(reader_->array().dtype, grid_->sample_shape());
    reader_->read(grid_->box(index), image.data);
    if (!numbers_.empty()) out.field("label").set(numbers_.of(index));
  }

  [[nodiscard]] std::vector<FileRange> files(SampleIndex index) const override {
    if (is_remote()) return {};
    return reader_->files(grid_->box(index));
  }

 private:
  void generate(const std::stop_token& stop) {
    require_data(path_, generate_,
                 {.kind = "zarr-images",
                  .samples = generated_samples_,
                  .bytes = generated_samples_ * kGeneratedImageBytes,
                  .write = [&](const std::string& folder) {
                    generate_zarr(folder, generated_samples_, stop);
                  }});
    generated_ = is_generated(path_);
  }
  [[nodiscard]] Store store() const { return found_ ? found_->store : nullptr; }
  [[nodiscard]] ZarrArray load() const {
    return found_ ? found_->array : load_zarr_array(array_path(), ChunkFiles());
  }
  [[nodiscard]] std::string array_path() const {
    return array_.empty() ? path_ : path_ + "/" + array_;
  }
  /// In the group of the array: `path`, or where `path` is.
  [[nodiscard]] std::string labels_path() const {
    if (!array_.empty()) return path_ + "/" + labels_;
    if (is_remote_path(path_)) return path_.substr(0, path_.rfind('/') + 1) + labels_;
    const std::filesystem::path array = (std::filesystem::path(path_) / "").lexically_normal();
    return (array.parent_path().parent_path() / labels_).string();
  }

  std::string path_;
  std::string array_;  ///< empty: path_ is the array
  std::string labels_;
  WindowExtents extents_;
  std::size_t cache_bytes_;
  bool generate_;
  std::uint64_t generated_samples_;
  bool generated_ = false;
  std::string origin_;                       ///< of samples
  std::string objects_;                      ///< on a server
  std::shared_ptr<const FoundArray> found_;  ///< on a server; null: files
  std::unique_ptr<const ZarrReader> reader_;
  std::optional<WindowGrid> grid_;
  WindowLabels numbers_;
};

}  // namespace

void register_read_zarr(Registry& registry) {
  registry.add(
      {.type = "read.zarr",
       .doc = "Items or windows of a Zarr array (version 2 or 3, with shards): array, label",
       .kind = StageKind::source,
       .traits = {.allocates = true},
       .params = with_object_cache(
           {{.name = "path",
             .type = ParamType::path,
             .doc = "folder of the array, with .zarray or zarr.json; or of its group, if "
                    "`array` is given; or its address on a server: https://, s3://"},
            {.name = "array",
             .type = ParamType::string,
             .doc = "name of the array in the group: images, train/images; empty: `path` is "
                    "the array",
             .default_value = ""},
            window_param(),
            step_param(),
            labels_param("an array in the same group"),
            {.name = "chunk_cache_mb",
             .type = ParamType::number,
             .doc = "MB of decoded chunks that each worker keeps; 0: a sample decodes the "
                    "chunks that it touches, as zarr-python does",
             .default_value = 0.0,
             .minimum = 0,
             .maximum = 1e6},
            if_missing_param(),
            generated_samples_param(512)}),
       .example = R"({"path": "${cache}/images.zarr", "array": "images", "labels": "labels",)"
                  R"( "window": [128, 128, 3]})",
       .make = [](const Params& params) { return std::make_unique<ZarrSource>(params); }});
}

}  // namespace cachebisect::stages
