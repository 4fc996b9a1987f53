// read.webdataset: images and labels in tar archives, as WebDataset writes them.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stages/datasets/generate_archives.hpp"
#include "stages/datasets/generated_folder.hpp"
#include "stages/datasets/label_text.hpp"
#include "stages/datasets/tar_sample.hpp"
#include "stages/datasets/tar_set.hpp"
#include "stages/datasets/whole_runs.hpp"
#include "stages/support/object_reader.hpp"
#include "stages/support/param_specs.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"
#include "cachebisect/pipeline/registry.hpp"
#include "cachebisect/pipeline/run_reader.hpp"
#include "cachebisect/shards/run_buffer.hpp"
#include "cachebisect/shards/run_sizes.hpp"

namespace cachebisect::stages {
namespace {

std::string member_extension(const std::string& given, const char* param) {
  std::string extension = in_lower_case(given.starts_with('.') ? given.substr(1) : given);
  if (!extension.empty()) return extension;
  throw Error(ErrorKind::usage, "the extension '" + given + "' in \"" + param +
                                    "\" is empty; write it as in \"jpg\"");
}

std::string_view text_of_bytes(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class WebDatasetSource final : public SourceStage, public RunReader, public ObjectReader {
 public:
  explicit WebDatasetSource(const Params& params)
      : ObjectReader(params),
        path_(params.string("path")),
        buffer_bytes_(params.number("shuffle_buffer_mb") * 1e6),
        generate_(generate_if_missing(params)),
        generated_samples_(static_cast<std::uint64_t>(params.integer("generated_samples"))) {
    if (generate_) require_archive_folder(path_);
    for (const std::string& extension : params.strings("image")) {
      members_.image.push_back(member_extension(extension, "image"));
    }
    const std::string& label = params.string("label");
    const std::size_t colon = label.find(':');
    if (!label.empty()) members_.label = member_extension(label.substr(0, colon), "label");
    if (colon == std::string::npos) return;
    key_ = label.substr(colon + 1);
    if (key_.empty()) throw Error(ErrorKind::usage, "\"label\" has no key behind '" + label + "'");
  }

  [[nodiscard]] SampleSpec infer() override {
    SampleSpec spec{{"image", DType::uint8, {kDynamic}}};
    if (has_labels()) spec.push_back({"label", DType::int64, {}});
    return spec;
  }

  void open() override { open_with({}); }
  void open_with(const OpenContext& context) override {
    if (generate_) require_archives(path_, generated_samples_, context.stop);
    generated_ = is_generated(path_);
    const auto make = [&] {
      return TarSet(
          {.path = path_,
           .members = members_,
           .store = make_store(path_, context.stop),
           .most_unpacked = static_cast<std::uint64_t>(buffer_bytes_) / kWholeRunsAtLeast},
          context);
    };
    set_ = context.shared ? context.shared->get<TarSet>(index_key(), make)
                          : std::make_shared<const TarSet>(make());
    set_store(set_->store());
    if (set_->is_packed()) return make_archive_buffer();
    if (buffer_bytes_ > 0) make_buffer();
  }

  [[nodiscard]] bool generated() const override { return generated_; }
  [[nodiscard]] std::uint64_t size() const override { return set_ ? set_->size() : 0; }
  [[nodiscard]] ReadRuns read_runs() const override { return runs_; }
  bool listen(Listener listener) override {
    if (buffer_) before_run_ = std::move(listener);
    return buffer_ != nullptr;
  }

  [[nodiscard]] std::string objects() const override { return set_ ? set_->objects() : ""; }

  void read(Sample& out, const SampleContext& context) const override {
    count_sample();
    const TarSet::Place place = set_->locate(context.index());
    const TarSample& sample = place.sample();
    out.set_origin({.folder = place.tar->path(), .name = place.tar->index().name(place.number)});
    const TensorView image =
        out.field("image").resize(DType::uint8, {std::int64_t{sample.image_bytes}});
    const std::span<std::byte> bytes(image.data, sample.image_bytes);
    if (buffer_) return read_from_run(place, context.index(), bytes, out);
    set_label(read_tar_sample(place, bytes, context.arena()), place, out);
  }

  [[nodiscard]] std::vector<FileRange> files(SampleIndex index) const override {
    if (is_remote()) return {};
    return places_of(set_->locate(index), set_->is_packed());
  }
  [[nodiscard]] std::uint64_t stored_bytes(SampleIndex index) const override {
    return set_->locate(index).sample().image_bytes;
  }

 private:
  [[nodiscard]] bool has_labels() const noexcept { return !members_.label.empty(); }

  /// Everything that the index depends on.
  [[nodiscard]] std::string index_key() const {
    std::string key = path_ + '\0' + cache_key() + '\0' + members_.label;
    for (const std::string& extension : members_.image) key.append(1, '\0').append(extension);
    return key;
  }

  void read_from_run(const TarSet::Place& place, std::uint64_t index, std::span<std::byte> image,
                     Sample& out) const {
    const TarSample& sample = place.sample();
    const bool whole = set_->is_packed();
    const std::uint64_t run = whole ? place.tar_number : index / runs_.samples;
    const shards::RunBuffer::Lease lease = buffer_->get(run);
    const std::uint64_t at =
        whole ? sample.begin() : place.begin() - set_->locate(run * runs_.samples).begin();
    const auto stored = lease.bytes().subspan(at, sample.end() - sample.begin());
    std::ranges::copy(stored.subspan(sample.image_offset - sample.begin(), image.size()),
                      image.begin());
    set_label(stored.subspan(sample.label_offset - sample.begin(), sample.label_bytes), place, out);
  }

  /// From the bytes of the label; also checks that there is an image.
  void set_label(std::span<const std::byte> stored, const TarSet::Place& place, Sample& out) const {
    if (place.sample().image_bytes == 0) fail(place, place.sample().image_offset, "has no bytes");
    if (!has_labels()) return;
    const std::string_view text = text_of_bytes(stored);
    const auto label = key_.empty() ? whole_number(text) : json_number(text, key_);
    if (label) return out.field("label").set(*label);
    fail(place, place.sample().label_offset,
         "has the ." + members_.label + " " + quote(text) +
             (key_.empty() ? ", not a whole number"
                           : ", not a JSON object with a whole number under " + quote(key_)));
  }

  [[noreturn]] static void fail(const TarSet::Place& place, std::uint64_t offset,
                                const std::string& what) {
    throw Error(ErrorKind::data, place.tar->path() + ": " +
                                     quote(place.tar->index().name(place.number)) + " " + what +
                                     " (at byte " + std::to_string(offset) + ")");
  }

  void make_buffer() {
    const shards::RunSizes sizes = shards::run_sizes(size(), set_->bytes(), buffer_bytes_);
    runs_ = {.samples = sizes.samples, .mixed = sizes.mixed};
    buffer_ = std::make_unique<shards::RunBuffer>(
        sizes.runs, sizes.slots,
        [this](std::uint64_t run, std::vector<std::byte>& bytes) { read_run(run, bytes); });
  }

  /// Each compressed archive is a run, in memory as a whole.
  void make_archive_buffer() {
    const std::vector<TarFile>& tars = set_->tars();
    const WholeRuns archives(
        {.count = tars.size(),
         .piece =
             [&](std::size_t i) {
               return WholePiece{tars[i].index().samples.size(), tars[i].bytes()};
             },
         .path = [&](std::size_t i) { return tars[i].path(); },
         .why = "whole archives are read as others are compressed; give more, or unpack those"},
        static_cast<std::uint64_t>(buffer_bytes_));
    runs_ = archives.runs;
    buffer_ = std::make_unique<shards::RunBuffer>(
        tars.size(), archives.slots,
        [this](std::uint64_t tar, std::vector<std::byte>& whole) { read_archive(tar, whole); });
  }

  void read_archive(std::uint64_t number, std::vector<std::byte>& whole) const {
    const TarFile& tar = set_->tars()[number];
    whole.resize(tar.bytes());
    if (before_run_) before_run_(tar.stored_bytes());
    tar.read_whole(whole);
  }

  void read_run(std::uint64_t run, std::vector<std::byte>& bytes) const {
    const std::uint64_t first = run * runs_.samples;
    const std::uint64_t last = std::min(size(), first + runs_.samples) - 1;
    const std::uint64_t begin = set_->locate(first).begin();
    bytes.resize(set_->locate(last).end() - begin);
    if (before_run_) before_run_(bytes.size());
    set_->read(begin, bytes);
  }

  std::string path_;
  double buffer_bytes_;
  bool generate_;
  std::uint64_t generated_samples_;
  bool generated_ = false;
  SampleMembers members_;
  std::string key_;                    ///< of a JSON object; empty: the label is text
  std::shared_ptr<const TarSet> set_;  // of all variants of the pipeline
  ReadRuns runs_;
  Listener before_run_;
  std::unique_ptr<shards::RunBuffer> buffer_;  ///< null: samples are read one by one
};

}  // namespace

void register_read_webdataset(Registry& registry) {
  registry.add(
      {.type = "read.webdataset",
       .doc = "Images in tar archives, as WebDataset writes them: image bytes, label",
       .kind = StageKind::source,
       .traits = {},
       .params = with_object_cache(
           {{.name = "path",
             .type = ParamType::path,
             .doc =
                 "tar archive, folder of them (*.tar, in natural order), or pattern: "
                 "train-{000..099}.tar; or such a pattern of objects: https://, s3://; of S3 also "
                 "a folder with a slash at its end, or a pattern with * for any characters but "
                 "a slash. Those in files may be compressed with gzip or Zstandard, if "
                 "shuffle_buffer_mb holds four of them unpacked"},
            {.name = "image",
             .type = ParamType::string_list,
             .doc = "extensions of the image, in any case: what follows the first dot of a "
                    "member's name; the first that a sample has is read",
             .default_value = std::vector<std::string>{"jpg", "jpeg", "png", "ppm", "bmp", "pgm",
                                                       "tif", "tiff", "webp"},
             .min_items = 1},
            {.name = "label",
             .type = ParamType::string,
             .doc = "extension of the label, a whole number as text; json:KEY: the number under "
                    "KEY of a JSON object; empty: samples have none",
             .default_value = std::string("cls")},
            shuffle_buffer_param(),
            if_missing_param(),
            generated_samples_param(2'000)}),
       .example = R"({"path": "${cache}/shards/train-{000000..000009}.tar"})",
       .make = [](const Params& params) { return std::make_unique<WebDatasetSource>(params); }});
}

}  // namespace cachebisect::stages
