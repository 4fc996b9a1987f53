// read.image_folder: image files in one folder per class, like torchvision's ImageFolder.
#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "stages/datasets/data_folder.hpp"
#include "stages/datasets/generate_photos.hpp"
#include "stages/datasets/image_folder.hpp"
#include "stages/datasets/object_folder.hpp"
#include "stages/support/object_reader.hpp"

#include "cachebisect/base/file.hpp"
#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 30;

class ImageFolderSource final : public SourceStage, public ObjectReader {
 public:
  explicit ImageFolderSource(const Params& params)
      : ObjectReader(params),
        path_(params.string("path")),
        extensions_(params.strings("extensions")),
        generate_(generate_if_missing(params)),
        generated_samples_(static_cast<std::uint64_t>(params.integer("generated_samples"))) {
    for (std::string& extension : extensions_) {
      std::ranges::transform(extension, extension.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      });
      if (extension.size() < 2 || extension.front() != '.') {
        throw Error(ErrorKind::usage,
                    "the extension '" + extension + "' must begin with a dot, as in \".jpg\"");
      }
    }
    if (is_remote_path(path_)) check_address();
  }

  [[nodiscard]] SampleSpec infer() override {
    return {{"image", DType::uint8, {kDynamic}}, {"label", DType::int64, {}}};
  }

  void open() override { open_with({}); }
  void open_with(const OpenContext& context) override {
    if (is_remote_path(path_)) return open_objects(context);
    // Refuses a cache of files.
    static_cast<void>(make_store(path_, context.stop));
    require_data(path_, generate_,
                 {.kind = "photo-like",
                  .samples = generated_samples_,
                  .bytes = generated_samples_ * kPhotoBytes,
                  .write = [&](const std::string& folder) {
                    generate_photos(folder, generated_samples_, context.stop);
                  }});
    const auto list = [&] { return list_image_folder(path_, extensions_, context); };
    files_ = context.shared ? context.shared->get<FileList>(listing_key(), list)
                            : std::make_shared<const FileList>(list());
    generated_ = is_generated(path_);
  }

  [[nodiscard]] std::uint64_t size() const override {
    if (objects_) return objects_->size();
    return files_ ? files_->size() : 0;
  }
  [[nodiscard]] bool generated() const override { return generated_; }
  [[nodiscard]] std::string objects() const override { return objects_ ? objects_->objects() : ""; }

  void read(Sample& out, const SampleContext& context) const override {
    const std::uint64_t index = context.index();
    if (objects_) return read_object(objects_->locate(index), out);
    const char* const path = files_->path(index, context.arena());
    out.set_origin({.folder = files_->folder(index), .name = files_->name(index)});
    std::uint64_t bytes = 0;
    const FileDescriptor file = open_regular(path, bytes);
    read_exactly(file.get(), path, 0, image_of(bytes, path, out));
    out.field("label").set(std::int64_t{files_->label(index)});
  }

  [[nodiscard]] std::vector<FileRange> files(SampleIndex index) const override {
    if (is_remote()) return {};
    Arena scratch;
    return {{files_->path(index, scratch), 0, FileRange::kToEnd}};
  }

 private:
  /// For servers: only S3 lists what it has, and nothing is generated there.
  void check_address() {
    const std::string shown = shown_path(path_);
    if (!path_.starts_with("s3://")) {
      throw Error(ErrorKind::usage,
                  shown +
                      ": folders of http:// and https:// are not listed, only those of S3 (s3://); "
                      "pack the images into tar archives, which read.webdataset reads there");
    }
    if (generate_) {
      throw Error(ErrorKind::usage, shown +
                                        ": what is generated is a local folder; give its path, "
                                        "or leave out \"if_missing\"");
    }
    path_ = object_folder(std::move(path_), "the class folders");
  }

  void open_objects(const OpenContext& context) {
    const auto list = [&] {
      return ObjectFolder(path_, extensions_, make_store(path_, context.stop), context);
    };
    const std::string key = listing_key() + '\0' + cache_key();
    objects_ = context.shared ? context.shared->get<ObjectFolder>(key, list)
                              : std::make_shared<const ObjectFolder>(list());
    set_store(objects_->store());
  }

  void read_object(const ObjectFolder::Place& place, Sample& out) const {
    count_sample();
    out.set_origin({.folder = place.of->folder(), .name = place.name()});
    const std::unique_ptr<const ByteSource> object = objects_->open(place);
    object->read(0, image_of(object->size(), object->path().c_str(), out));
    out.field("label").set(std::int64_t{place.label});
  }

  /// The place for the bytes of an image.
  static std::span<std::byte> image_of(std::uint64_t bytes, const char* path, Sample& out) {
    if (bytes == 0) throw Error(ErrorKind::data, std::string(path) + ": is empty");
    if (bytes > kMaxFileBytes) {
      throw Error(ErrorKind::data, std::string(path) + ": has " + std::to_string(bytes) +
                                       " bytes, more than an image may have (" +
                                       std::to_string(kMaxFileBytes) + ")");
    }
    const TensorView image =
        out.field("image").resize(DType::uint8, {static_cast<std::int64_t>(bytes)});
    return {image.data, static_cast<std::size_t>(bytes)};
  }

  /// Everything that the listing depends on.
  [[nodiscard]] std::string listing_key() const {
    std::string key = path_;
    for (const std::string& extension : extensions_) key.append(1, '\0').append(extension);
    return key;
  }

  std::string path_;
  std::vector<std::string> extensions_;
  bool generate_;
  std::uint64_t generated_samples_;
  std::shared_ptr<const FileList> files_;        // of all variants of the pipeline
  std::shared_ptr<const ObjectFolder> objects_;  ///< likewise; null: files
  bool generated_ = false;
};

}  // namespace

void register_read_image_folder(Registry& registry) {
  registry.add(
      {.type = "read.image_folder",
       .doc = "Image files in class folders, like torchvision's ImageFolder: image bytes, label",
       .kind = StageKind::source,
       .traits = {},
       .params = with_object_cache(
           {{.name = "path",
             .type = ParamType::path,
             .doc = "folder with one subfolder per class, sorted by name; files in natural order, "
                    "without hidden ones (.name); or such a folder of S3: s3://bucket/folder"},
            {.name = "extensions",
             .type = ParamType::string_list,
             .doc = "file name endings of images, in any case; other files are ignored",
             .default_value = std::vector<std::string>{".jpg", ".jpeg", ".png", ".ppm", ".bmp",
                                                       ".pgm", ".tif", ".tiff", ".webp"},
             .min_items = 1},
            if_missing_param(),
            generated_samples_param(2'000)}),
       .example = R"({"path": "${cache}/photos", "if_missing": "generate"})",
       .make = [](const Params& params) { return std::make_unique<ImageFolderSource>(params); }});
}

}  // namespace cachebisect::stages
