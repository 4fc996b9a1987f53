// read.image_folder: image files in one folder per class, like torchvision's ImageFolder.
#include <algorithm>

#include "stages/datasets/data_folder.hpp"
#include "stages/datasets/file.hpp"
#include "stages/datasets/generate_photos.hpp"
#include "stages/datasets/image_folder.hpp"

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

  void open() override {
    require_data(path_, generate_,
                 {.kind = "photo-like",
                  .samples = generated_samples_,
                  .bytes = generated_samples_ * kPhotoBytes,
                  .write = [this](const std::string& folder) {
                    generate_photos(folder, generated_samples_);
                  }});
    files_ = list_image_folder(path_, extensions_);
    generated_ = is_generated(path_);
  }

  [[nodiscard]] std::uint64_t size() const override { return files_.size(); }
  [[nodiscard]] bool generated() const override { return generated_; }

  void read(Sample& out, const SampleContext& context) const override {
    const char* path = files_.path(context.index());
    out.set_origin(path);
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
    out.field("label").set(std::int64_t{files_.label(context.index())});
  }

  [[nodiscard]] std::vector<FileRange> files(SampleIndex index) const override {
    return {{files_.path(index), 0, FileRange::kToEnd}};
  }

 private:
  std::string path_;
  std::vector<std::string> extensions_;
  bool generate_;
  std::uint64_t generated_samples_;
  FileList files_;
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
             .doc = "folder with one subfolder per class, sorted by name; files in natural order"},
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
