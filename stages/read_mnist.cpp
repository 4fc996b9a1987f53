// read.mnist: MNIST's IDX files, plain or gzip (http://yann.lecun.com/exdb/mnist).
#include <filesystem>
#include <optional>

#include "stages/datasets/data_folder.hpp"
#include "stages/datasets/generate_mnist.hpp"
#include "stages/datasets/held_bytes.hpp"
#include "stages/datasets/idx.hpp"

#include "cachebisect/data/shown_bytes.hpp"
#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {
namespace {

constexpr std::uint64_t kImageSide = 28;
constexpr std::int64_t kPixels = kImageSide * kImageSide;
constexpr unsigned kClasses = 10;
const Shape kRecord{kPixels};

class MnistSource final : public SourceStage {
 public:
  explicit MnistSource(const Params& params)
      : path_(params.string("path")),
        prefix_(params.string("split") == "train" ? "train" : "t10k"),
        generate_(generate_if_missing(params)),
        in_memory_(params.boolean("in_memory")),
        generated_samples_(static_cast<std::uint64_t>(params.integer("generated_samples"))) {}

  [[nodiscard]] SampleSpec infer() override {
    return {{"image", DType::uint8, kRecord}, {"label", DType::int64, {}}};
  }

  void open() override { open_with({}); }
  void open_with(const OpenContext& context) override {
    require_data(path_, generate_,
                 {.kind = "mnist-like",
                  .samples = generated_samples_,
                  .bytes = generated_samples_ * (kPixels + 1) * 7 / 6,
                  .write = [&](const std::string& folder) {
                    generate_mnist(folder, generated_samples_, context.stop);
                  }});
    if (!std::filesystem::is_directory(path_)) {
      throw Error(ErrorKind::data, path_ + ": is not a folder; give the folder that has " +
                                       image_name() + " and " + label_name());
    }
    const std::string folder =
        find_data_folder(path_, {"MNIST/raw", "raw"}, {image_name(), image_name() + ".gz"});
    try {
      images_.emplace(file_in(folder, image_name()), 3, in_memory_);
      IdxFile labels(file_in(folder, label_name()), 1, false);
      check_dimensions(labels);
      images_->load(context);
      load_labels(labels, context);
    } catch (const Error& error) {
      throw Error(error.kind(), error.what() + regenerate_hint(folder));
    }
    generated_ = is_generated(folder);
  }

  [[nodiscard]] std::uint64_t size() const override { return labels_.size(); }
  [[nodiscard]] bool generated() const override { return generated_; }

  void read(Sample& out, const SampleContext& context) const override {
    out.set_origin(images_->path());
    Field& image = out.field("image");
    if (images_->in_memory()) {
      show_bytes(image, held(context.index()).data(), kRecord);
    } else {
      images_->read(context.index(), std::span(image.resize(DType::uint8, kRecord).data, kPixels));
    }
    out.field("label").set(std::to_integer<std::int64_t>(labels_[context.index()]));
  }

  [[nodiscard]] std::span<const std::byte> held(SampleIndex index) const override {
    return images_->in_memory() ? images_->held(index) : std::span<const std::byte>{};
  }

  [[nodiscard]] std::vector<FileRange> files(SampleIndex index) const override {
    if (images_->in_memory()) return {};
    return {{images_->path(), images_->offset(index), kPixels}};
  }

 private:
  [[nodiscard]] std::string image_name() const { return prefix_ + "-images-idx3-ubyte"; }
  [[nodiscard]] std::string label_name() const { return prefix_ + "-labels-idx1-ubyte"; }

  static std::string file_in(const std::string& folder, const std::string& name) {
    std::string plain = folder + "/" + name;
    if (exists(plain)) return plain;
    if (exists(plain + ".gz")) return plain + ".gz";
    throw Error(ErrorKind::data, folder + ": has neither " + name + " nor " + name + ".gz");
  }

  /// Before anything is inflated.
  void check_dimensions(const IdxFile& labels) const {
    if (labels.items() != images_->items()) {
      throw Error(ErrorKind::data, images_->path() + " has " + std::to_string(images_->items()) +
                                       " images, " + labels.path() + " has " +
                                       std::to_string(labels.items()) +
                                       " labels; they must be from the same split");
    }
    if (images_->dim(1) == kImageSide && images_->dim(2) == kImageSide) return;
    throw Error(ErrorKind::data,
                images_->path() + ": has images of " + std::to_string(images_->dim(1)) + "x" +
                    std::to_string(images_->dim(2)) + " pixels; read.mnist reads 28x28");
  }

  void load_labels(IdxFile& file, const OpenContext& context) {
    file.load(context);
    labels_.resize(file.items());
    file.read(0, labels_);
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      if (std::to_integer<unsigned>(labels_[i]) >= kClasses) {
        throw Error(ErrorKind::data, file.path() + ": label " + std::to_string(i) + " is " +
                                         std::to_string(std::to_integer<unsigned>(labels_[i])) +
                                         "; MNIST has labels from 0 to 9");
      }
    }
  }

  std::string path_;
  std::string prefix_;
  bool generate_;
  bool in_memory_;
  std::uint64_t generated_samples_;
  std::optional<IdxFile> images_;
  std::vector<std::byte> labels_;
  bool generated_ = false;
};

}  // namespace

void register_read_mnist(Registry& registry) {
  registry.add(
      {.type = "read.mnist",
       .doc = "MNIST's IDX files, plain or gzip: image [784] bytes, label",
       .kind = StageKind::source,
       .traits = {},
       .params = {{.name = "path",
                   .type = ParamType::path,
                   .doc = "folder with the IDX files: train-images-idx3-ubyte[.gz] and so on"},
                  {.name = "split",
                   .type = ParamType::string,
                   .doc = "train, or test (the t10k files)",
                   .default_value = std::string("train"),
                   .choices = {"train", "test"}},
                  in_memory_param(),
                  if_missing_param(),
                  generated_samples_param(60'000)},
       .example = R"({"path": "${cache}/mnist", "if_missing": "generate"})",
       .make = [](const Params& params) { return std::make_unique<MnistSource>(params); }});
}

}  // namespace cachebisect::stages
