// read.image_folder: image files in one folder per class, like torchvision's ImageFolder.
#include <algorithm>

#include "stages/datasets/data_folder.hpp"
#include "stages/datasets/generate_photos.hpp"
#include "stages/datasets/image_folder.hpp"

#include "cachebisect/base/file.hpp"
#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 30;

class ImageFolderSource final : public SourceStage {
 public:
  explicit ImageFolderSource(const Params& params)
      : path_(params.string("path")),
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
  }

  [[nodiscard]] SampleSpec infer() override {
    return {{"image", DType::uint8, {kDynamic}}, {"label", DType::int64, {}}};
  }

  void open() override { open_with({}); }
  void open_with(const OpenContext& context) override {
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

  [[nodiscard]] std::uint64_t size() const override { return files_ ? files_->size() : 0; }
  [[nodiscard]] bool generated() const override { return generated_; }

  void read(Sample& out, const SampleContext& context) const override {
    const std::uint64_t index = context.index();
    const char* const path = files_->path(index, context.arena());
    out.set_origin({.folder = files_->folder(index), .name = files_->name(index)});
    std::uint64_t bytes = 0;
    const FileDescriptor file = open_regular(path, bytes);
    if (bytes == 0) throw Error(ErrorKind::data, std::string(path) + ": is empty");
    if (bytes > kMaxFileBytes) {
      throw Error(ErrorKind::data, std::string(path) + ": has " + std::to_string(bytes) +
                                       " bytes, more than an image may have (" +
                                       std::to_string(kMaxFileBytes) + ")");
    }
    const auto length = static_cast<std::size_t>(bytes);
    const TensorView image =
        out.field("image").resize(DType::uint8, {static_cast<std::int64_t>(bytes)});
    read_exactly(file.get(), path, 0, std::span(image.data, length));
    out.field("label").set(std::int64_t{files_->label(index)});
  }

  [[nodiscard]] std::vector<FileRange> files(SampleIndex index) const override {
    Arena scratch;
    return {{files_->path(index, scratch), 0, FileRange::kToEnd}};
  }

 private:
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
  std::shared_ptr<const FileList> files_;  // of all variants of the pipeline
  bool generated_ = false;
};

}  // namespace

void register_read_image_folder(Registry& registry) {
  registry.add(
      {.type = "read.image_folder",
       .doc = "Image files in class folders, like torchvision's ImageFolder: image bytes, label",
       .kind = StageKind::source,
       .traits = {},
       .params =
           {{.name = "path",
             .type = ParamType::path,
             .doc = "folder with one subfolder per class, sorted by name; files in natural order, "
                    "without hidden ones (.name)"},
            {.name = "extensions",
             .type = ParamType::string_list,
             .doc = "file name endings of images, in any case; other files are ignored",
             .default_value = std::vector<std::string>{".jpg", ".jpeg", ".png", ".ppm", ".bmp",
                                                       ".pgm", ".tif", ".tiff", ".webp"},
             .min_items = 1},
            if_missing_param(),
            generated_samples_param(2'000)},
       .example = R"({"path": "${cache}/photos", "if_missing": "generate"})",
       .make = [](const Params& params) { return std::make_unique<ImageFolderSource>(params); }});
}

}  // namespace cachebisect::stages
