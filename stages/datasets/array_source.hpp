// A source of items or windows of an array in one file, whatever its format.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stages/datasets/stored_array.hpp"
#include "stages/datasets/stored_values.hpp"
#include "stages/datasets/window_grid.hpp"
#include "stages/datasets/window_labels.hpp"
#include "stages/datasets/window_params.hpp"

#include "cachebisect/pipeline/registry.hpp"
#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect::stages {

/// What differs between the formats.
struct ArrayFormat {
  std::string word;  ///< what an array is called in it: "variable"
  std::string name;  ///< of the array
  /// Opens the array with this name in the file, `cache_bytes` for decoded chunks.
  std::function<std::unique_ptr<StoredArray>(const std::string& name, std::size_t cache_bytes)>
      open;
};

/// Its parameters: `path`, `window`, `step`, `labels`, `unpack` and `chunk_cache_mb`.
class ArraySource final : public SourceStage {
 public:
  ArraySource(const Params& params, ArrayFormat format);

  [[nodiscard]] SampleSpec infer() override;
  void open() override { open_with({}); }
  void open_with(const OpenContext& context) override;
  [[nodiscard]] std::uint64_t size() const override { return grid_ ? grid_->size() : 0; }
  void read(Sample& out, const SampleContext& context) const override;
  [[nodiscard]] std::vector<FileRange> files(SampleIndex index) const override {
    return array_->files(grid_->box(index.value));
  }

 private:
  [[nodiscard]] std::string called(const std::string& name) const;
  [[nodiscard]] LabelArray open_labels() const;

  std::string path_;
  ArrayFormat format_;
  std::string labels_name_;
  WindowExtents extents_;
  bool unpack_;
  std::size_t cache_bytes_;
  std::unique_ptr<const StoredArray> array_;
  std::optional<StoredValues> values_;
  std::optional<WindowGrid> grid_;
  DType dtype_ = DType::uint8;
  WindowLabels labels_;
};

}  // namespace cachebisect::stages
