#include "stages/datasets/cifar_source.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "stages/datasets/data_folder.hpp"
#include "stages/datasets/generated_folder.hpp"
#include "stages/datasets/held_bytes.hpp"

#include "cachebisect/base/file.hpp"
#include "cachebisect/data/sample_place.hpp"
#include "cachebisect/data/shown_bytes.hpp"

namespace cachebisect::stages {
namespace {

constexpr std::uint64_t kPixels = 3072;
const Shape kPlanes{std::int64_t{kPixels}};

class CifarSource final : public SourceStage {
 public:
  CifarSource(CifarFormat format, const Params& params)
      : format_(std::move(format)),
        path_(params.string("path")),
        train_(params.string("split") == "train"),
        generate_(generate_if_missing(params)),
        in_memory_(params.boolean("in_memory")),
        generated_samples_(static_cast<std::uint64_t>(params.integer("generated_samples"))) {}

  [[nodiscard]] SampleSpec infer() override {
    return {{"image", DType::uint8, kPlanes}, {"label", DType::int64, {}}};
  }

  void open() override { open_with({}); }
  void open_with(const OpenContext& context) override {
    const GeneratedSet set{.kind = format_.generated_kind,
                           .samples = generated_samples_,
                           .bytes = generated_samples_ * record_bytes() * 6 / 5,
                           .write = [&](const std::string& folder) {
                             format_.generate(folder, generated_samples_, context.stop);
                           }};
    require_data(path_, generate_ && !path_.ends_with(".bin"), set);
    files_.clear();
    ends_.clear();
    for (const std::string& file : file_paths()) add_file(file);
    if (in_memory_) hold_files(context);
    generated_ = is_generated(files_.front().path());
  }

  [[nodiscard]] std::uint64_t size() const override { return ends_.empty() ? 0 : ends_.back(); }
  [[nodiscard]] bool generated() const override { return generated_; }

  void read(Sample& out, const SampleContext& context) const override {
    const Place place = locate(context.index());
    out.set_origin(files_[place.file].path());
    Field& image = out.field("image");
    const std::span<const std::byte> record = record_at(place, image);
    show_bytes(image, record.last(kPixels).data(), kPlanes);
    out.field("label").set(label_of(record, place.offset));
  }

  [[nodiscard]] std::span<const std::byte> held(SampleIndex index) const override {
    return in_memory_ ? held_record(locate(index)) : std::span<const std::byte>{};
  }

  [[nodiscard]] std::vector<FileRange> files(SampleIndex index) const override {
    if (in_memory_) return {};
    const Place place = locate(index);
    return {{files_[place.file].path(), place.offset, record_bytes()}};
  }

 private:
  [[nodiscard]] std::uint64_t record_bytes() const noexcept {
    return kPixels + format_.label_bytes;
  }

  struct Place {
    std::size_t file = 0;
    std::uint64_t offset = 0;
  };

  [[nodiscard]] Place locate(std::uint64_t index) const {
    const auto [file, record] = place_of_sample(ends_, index);
    return {file, record * record_bytes()};
  }

  [[nodiscard]] std::span<const std::byte> held_record(const Place& place) const noexcept {
    return held_[place.file]->bytes().subspan(place.offset, record_bytes());
  }

  [[nodiscard]] std::span<const std::byte> record_at(const Place& place, Field& image) const {
    if (in_memory_) return held_record(place);
    // The label in front of the pixels too: one range costs less than two in one call (preadv).
    const Shape whole{static_cast<std::int64_t>(record_bytes())};
    const std::span record(image.resize(DType::uint8, whole).data, record_bytes());
    files_[place.file].read(place.offset, record);
    return record;
  }

  [[nodiscard]] std::int64_t label_of(std::span<const std::byte> record,
                                      std::uint64_t offset) const {
    const auto label = std::to_integer<unsigned>(record[format_.label_bytes - 1]);
    if (label < format_.classes) return label;
    throw Error(ErrorKind::data, "the record at byte " + std::to_string(offset) +
                                     " has the label " + std::to_string(label) + "; " +
                                     format_.set + " has labels from 0 to " +
                                     std::to_string(format_.classes - 1));
  }

  [[nodiscard]] std::vector<std::string> file_paths() const {
    if (!std::filesystem::is_directory(path_)) return {path_};
    refuse_folder_named_as_file();
    const std::vector<std::string> names =
        train_ ? format_.train_files : std::vector<std::string>{format_.test_file};
    const std::string folder = find_data_folder(path_, {format_.subfolder}, {names.front()});
    std::vector<std::string> paths;
    for (const std::string& name : names) {
      paths.push_back(folder);
      paths.back().append("/").append(name);
      if (exists(paths.back())) continue;
      // NOLINTNEXTLINE(performance-inefficient-string-concatenation): built once, as the run fails
      throw Error(ErrorKind::data, folder + ": has no " + name + "; the " +
                                       (train_ ? "training" : "test") + " split of " + format_.set +
                                       " (binary version) is " + joined(names) +
                                       regenerate_hint(folder));
    }
    return paths;
  }

  /// Who names one file does not want what a folder of that name holds.
  void refuse_folder_named_as_file() const {
    std::string name = path_;
    while (name.ends_with('/')) name.pop_back();
    name.erase(0, name.rfind('/') + 1);  // npos + 1 is 0
    const bool is_file = name == format_.test_file ||
                         std::ranges::find(format_.train_files, name) != format_.train_files.end();
    if (!is_file) return;
    throw Error(ErrorKind::data, path_ + ": is a folder, not a file of " + format_.set +
                                     "; give the file, or a folder of another name");
  }

  static std::string joined(const std::vector<std::string>& names) {
    return names.size() == 1 ? names.front() : names.front() + " to " + names.back();
  }

  void add_file(const std::string& path) {
    files_.emplace_back(path);
    const std::uint64_t bytes = files_.back().size();
    if (bytes == 0 || bytes % record_bytes() != 0) {
      throw Error(ErrorKind::data,
                  path + ": has " + std::to_string(bytes) + " bytes; a " + format_.set +
                      " file has a multiple of " + std::to_string(record_bytes()) +
                      ": it is truncated, or another kind of file" + regenerate_hint(path));
    }
    ends_.push_back(size() + bytes / record_bytes());
  }

  /// Once for a pipeline and its variants.
  void hold_files(const OpenContext& context) {
    held_.clear();
    for (const InputFile& file : files_) {
      const auto read = [&] { return read_whole(file, context); };
      const std::string key = file.path() + " of " + std::to_string(file.size()) + " bytes";
      held_.push_back(context.shared ? context.shared->get<HugePageBuffer>(key, read)
                                     : std::make_shared<const HugePageBuffer>(read()));
    }
  }

  CifarFormat format_;
  std::string path_;
  bool train_;
  bool generate_;
  bool in_memory_;
  std::uint64_t generated_samples_;
  std::vector<InputFile> files_;
  std::vector<std::shared_ptr<const HugePageBuffer>> held_;  // per file, if they are held
  std::vector<std::uint64_t> ends_;                          // samples up to the end of each file
  bool generated_ = false;
};

}  // namespace

StageType cifar_type(const std::string& name, const CifarFormat& format) {
  return {.type = "read." + name,
          .doc = format.set + " binary files: image [3072] planar RGB bytes, label",
          .kind = StageKind::source,
          .traits = {},
          .params = {{.name = "path",
                      .type = ParamType::path,
                      .doc = "folder with the binary version's files, or one such file"},
                     {.name = "split",
                      .type = ParamType::string,
                      .doc = "which files of the folder to read",
                      .default_value = std::string("train"),
                      .choices = {"train", "test"}},
                     in_memory_param(),
                     if_missing_param(),
                     generated_samples_param(50'000)},
          .example = R"({"path": "${cache}/)" + name + R"(", "if_missing": "generate"})",
          .make = [format](const Params& params) {
            return std::make_unique<CifarSource>(format, params);
          }};
}

}  // namespace cachebisect::stages
