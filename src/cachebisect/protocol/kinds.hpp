// The kinds of stages and devices, shared by the pipelines that run and the method that measures
// them.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "cachebisect/base/export.hpp"
#include "cachebisect/protocol/device_kind.hpp"

namespace cachebisect {

/// What a stage is for: the part of its type before the dot; `custom` for the categories of
/// plugins.
enum class Category {
  read,
  decode,
  augment,
  cache,
  collate,
  transfer,  ///< of batches from a worker process to the training process
  pin,       ///< a copy of the batch into page-locked memory
  copy,
  device,
  synthetic,
  custom
};
CACHEBISECT_API std::string_view to_string(Category category) noexcept;
/// "augment" of "augment.random_crop"; the whole text if there is no dot.
CACHEBISECT_API std::string_view category_name(std::string_view type) noexcept;
/// The category of a stage type.
CACHEBISECT_API Category category_of(std::string_view type) noexcept;
/// False for the copy and for stages on the device.
constexpr bool runs_on_host(Category category) noexcept {
  return category != Category::copy && category != Category::device;
}

/// What a stage takes and produces, in the order of a chain.
enum class StageKind { source, sample, collate, batch, copy, device };
CACHEBISECT_API std::string_view to_string(StageKind kind) noexcept;
/// True for the stages that work on whole batches on the host.
constexpr bool works_on_batches(StageKind kind) noexcept {
  return kind == StageKind::collate || kind == StageKind::batch;
}

/// How workers share the work. sample: the samples of a batch are shared by all workers. batch: a
/// worker loads whole batches, worker w of W the batches w, w + W, w + 2W, ..., and they are
/// delivered in order, as PyTorch's DataLoader does: a slow sample holds back every batch after its
/// own.
enum class LoaderKind { sample, batch };
inline constexpr std::array kLoaderKinds{LoaderKind::sample, LoaderKind::batch};
CACHEBISECT_API std::string_view to_string(LoaderKind kind) noexcept;
/// Empty for any other text.
CACHEBISECT_API std::optional<LoaderKind> parse_loader_kind(std::string_view text) noexcept;

/// Where a boundary's output is held.
enum class Held { none, host, device };
CACHEBISECT_API std::string_view to_string(Held held) noexcept;

}  // namespace cachebisect
