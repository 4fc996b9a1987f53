#include "cachebisect/replay/cache/field_values.hpp"

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>

namespace cachebisect {
namespace {

constexpr std::int64_t kMostValues = std::int64_t{1} << 22;
constexpr std::size_t kMostSamples = 64;

template <class T>
FieldValues range_of(const T* values, std::size_t count) {
  T low = values[0];
  T high = values[0];
  bool whole = true;
  std::size_t nonzero = 0;
  for (std::size_t i = 0; i < count; ++i) {
    nonzero += values[i] != T{} ? 1 : 0;
    low = std::min(low, values[i]);
    high = std::max(high, values[i]);
    // Also false for NaN, and for what no integer of 64 bits holds.
    if constexpr (std::floating_point<T>) {
      constexpr T kLimit = T{1ULL << 53U};
      const bool inside = values[i] > -kLimit && values[i] < kLimit;
      whole &=
          inside && static_cast<T>(static_cast<std::int64_t>(inside ? values[i] : 0)) == values[i];
    }
  }
  return {.low = static_cast<double>(low),
          .high = static_cast<double>(high),
          .nonzero = static_cast<double>(nonzero),
          .whole = whole};
}

/// Empty for types of which nothing is said.
std::optional<FieldValues> values_of(const ConstTensorView& field) {
  const auto count = static_cast<std::size_t>(field.shape.elements());
  if (count == 0 || !field.is_dense()) return std::nullopt;
  const auto as = [&]<class T>(T) {
    return range_of(reinterpret_cast<const T*>(field.data), count);
  };
  switch (field.dtype) {
    case DType::uint8:
    case DType::boolean:
      return as(std::uint8_t{});
    case DType::int8:
      return as(std::int8_t{});
    case DType::uint16:
      return as(std::uint16_t{});
    case DType::int32:
      return as(std::int32_t{});
    case DType::int64:
      return as(std::int64_t{});
    case DType::float32:
      return as(float{});
    case DType::float64:
      return as(double{});
    default:
      return std::nullopt;
  }
}

/// The samples to look at: spread evenly over all.
std::optional<FieldValues> values_of(std::span<const Sample> samples, const std::string& name) {
  const std::size_t step = std::max<std::size_t>(1, samples.size() / kMostSamples);
  std::optional<FieldValues> all;
  std::int64_t seen = 0;
  for (std::size_t i = 0; i < samples.size() && seen < kMostValues; i += step) {
    const Field* const field = samples[i].find(name);
    const auto one = field == nullptr ? std::nullopt : values_of(field->view());
    if (!one) return std::nullopt;
    seen += field->view().shape.elements();
    if (!all) {
      all = one;
      continue;
    }
    all->low = std::min(all->low, one->low);
    all->high = std::max(all->high, one->high);
    all->nonzero = std::max(all->nonzero, one->nonzero);
    all->whole = all->whole && one->whole;
  }
  if (all) all->name = name;
  return all;
}

}  // namespace

std::vector<FieldValues> field_values(std::span<const Sample> samples) {
  std::vector<FieldValues> all;
  if (samples.empty()) return all;
  for (const Sample::NamedField& named : samples.front().fields()) {
    if (auto values = values_of(samples, named.name)) all.push_back(*std::move(values));
  }
  return all;
}

void mark_unused(std::vector<FieldValues>& fields, const Pipeline& pipeline,
                 const TrainStep& step) {
  std::vector<std::string> read;
  for (const ExpectedField& expected : step.expects()) read.push_back(expected.name);
  if (read.empty()) return;
  for (std::size_t i = pipeline.collate_position() + 1; i < pipeline.stages().size(); ++i) {
    const ChainStage& stage = pipeline.stages()[i];
    if (stage.kind == StageKind::copy) continue;
    if (stage.fields.empty()) return;
    read.insert(read.end(), stage.fields.begin(), stage.fields.end());
  }
  for (FieldValues& field : fields)
    field.unused = std::ranges::find(read, field.name) == read.end();
}

}  // namespace cachebisect
