#include "cachebisect/replay/cache/label_check.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/error.hpp"

namespace cachebisect {
namespace {

constexpr std::int64_t kIgnored = -100;  ///< PyTorch's default of ignore_index

template <class T>
std::vector<std::int64_t> widened(const TensorView& tensor) {
  const auto* first = reinterpret_cast<const T*>(tensor.data);
  return {first, first + tensor.shape.elements()};
}

/// Empty unless the labels are whole numbers.
std::vector<std::int64_t> labels_in(const TensorView& tensor) {
  switch (tensor.dtype) {
    case DType::uint8:
      return widened<std::uint8_t>(tensor);
    case DType::int8:
      return widened<std::int8_t>(tensor);
    case DType::uint16:
      return widened<std::uint16_t>(tensor);
    case DType::int32:
      return widened<std::int32_t>(tensor);
    case DType::int64:
      return widened<std::int64_t>(tensor);
    default:
      return {};
  }
}

bool is_integer(DType dtype) {
  return dtype == DType::uint8 || dtype == DType::int8 || dtype == DType::uint16 ||
         dtype == DType::int32 || dtype == DType::int64;
}

/// The labels reach the step as whole numbers, one for each sample.
bool trains_on_classes(const Pipeline& pipeline) {
  if (pipeline.spec().train.kind != TrainSpec::Kind::model) return false;
  const BatchSpec& spec = pipeline.device_spec();
  return std::any_of(spec.begin(), spec.end(), [](const FieldSpec& field) {
    return field.name == "label" && field.shape.rank() == 1 && is_integer(field.dtype);
  });
}

void check_batch(const HostBatch& batch, std::int64_t classes) {
  const BatchField* field = batch.find("label");
  if (field == nullptr) return;
  const std::vector<std::int64_t> labels = labels_in(field->tensor);
  const auto bad = std::find_if(labels.begin(), labels.end(), [&](std::int64_t label) {
    return label != kIgnored && (label < 0 || label >= classes);
  });
  if (bad == labels.end()) return;
  const auto row = static_cast<std::size_t>(bad - labels.begin());
  throw Error(ErrorKind::data, "label " + std::to_string(*bad) + " of sample " +
                                   std::to_string(batch.indices.at(row).value) +
                                   ", train.classes is " + std::to_string(classes) +
                                   ": labels must be from 0 to " + std::to_string(classes - 1) +
                                   "; set train.classes to the number of classes");
}

}  // namespace

void check_labels(const Pipeline& pipeline, std::span<const HostBatch> batches) {
  if (!trains_on_classes(pipeline)) return;
  for (const HostBatch& batch : batches) check_batch(batch, pipeline.spec().train.classes);
}

}  // namespace cachebisect
