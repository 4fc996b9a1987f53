// A source that reads one file per sample, for tests of reading.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/files.hpp"

#include "cachebisect/pipeline/pipeline.hpp"

namespace cachebisect::test {

/// Sample i is the file "i" of a temporary folder. Records which samples were read.
class FileSource final : public SourceStage {
 public:
  FileSource(std::uint64_t samples, std::size_t bytes, bool looks_up = false)
      : samples_(samples), bytes_(bytes), looks_up_(looks_up) {
    for (std::uint64_t i = 0; i < samples; ++i) {
      folder_.write(std::to_string(i), std::string(bytes, 'x'));
    }
  }

  [[nodiscard]] std::string path(std::uint64_t index) const {
    return folder_.path(std::to_string(index));
  }
  /// The samples read since the last call, in any order.
  [[nodiscard]] std::vector<std::uint64_t> take_read() const {
    const std::scoped_lock lock(mutex_);
    return std::exchange(read_, {});
  }

  [[nodiscard]] std::uint64_t size() const override { return samples_; }
  [[nodiscard]] SampleSpec infer() override {
    return {{"image", DType::uint8, {static_cast<std::int64_t>(bytes_)}}};
  }
  void read(Sample& out, const SampleContext& context) const override {
    const std::string text = read_file(path(context.index()));
    if (text.size() != bytes_) throw Error(ErrorKind::data, path(context.index()) + ": is gone");
    const auto image =
        out.field("image").resize_as<std::uint8_t>({static_cast<std::int64_t>(bytes_)});
    std::copy(text.begin(), text.end(), image.begin());
    const std::scoped_lock lock(mutex_);
    read_.push_back(context.index());
  }
  /// With `looks_up` like a source that opens the file to learn its size.
  [[nodiscard]] std::vector<FileRange> files(SampleIndex index) const override {
    if (looks_up_ && !std::filesystem::exists(path(index))) {
      throw std::runtime_error("no such file");
    }
    return {{path(index), 0, FileRange::kToEnd}};
  }

 private:
  TemporaryFolder folder_;
  std::uint64_t samples_;
  std::size_t bytes_;
  bool looks_up_;
  mutable std::mutex mutex_;
  mutable std::vector<std::uint64_t> read_;
};

/// Batches of eight; damaged samples are skipped.
inline Pipeline over_files(const std::shared_ptr<FileSource>& source, bool drop_last = true) {
  return PipelineBuilder{}
      .source("read", {"custom.files", {}, source})
      .skip_damaged()
      .collate()
      .copy()
      .batch_size(8)
      .workers(1)
      .drop_last(drop_last)
      .device("cpu")
      .build();
}

}  // namespace cachebisect::test
