// The kinds of stages and devices, shared by the pipelines that run and the method that measures
// them.
#pragma once

#include <string_view>

#include "cachebisect/base/export.hpp"
#include "cachebisect/protocol/device_kind.hpp"

namespace cachebisect {

/// What a stage is for: the part of its type before the dot; `custom` for the categories of
/// plugins.
enum class Category { read, decode, augment, collate, copy, device, synthetic, custom };
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

/// Where a boundary's output is held.
enum class Held { none, host, device };
CACHEBISECT_API std::string_view to_string(Held held) noexcept;

}  // namespace cachebisect
