#include "cachebisect/pipeline/stack_collate.hpp"

#include <string>

namespace cachebisect {
namespace {

std::string describe(const Sample& sample, const Field& field) {
  std::string text = "sample " + std::to_string(sample.index().value);
  if (!sample.origin().empty()) text += " (" + sample.origin().to_string() + ")";
  return text + " has " + std::string(to_string(field.dtype())) + " " + field.shape().to_string();
}

void require_equal(const std::string& name, const Sample& first, const Sample& other) {
  const Field& a = first.field(name);
  const Field& b = other.field(name);
  if (a.dtype() == b.dtype() && a.shape() == b.shape()) return;
  throw Error(ErrorKind::data, "field '" + name + "' cannot be stacked: " + describe(first, a) +
                                   ", " + describe(other, b) +
                                   "; resize or crop before collate, or use collate.pad");
}

}  // namespace

BatchLayout parse_batch_layout(std::string_view layout) {
  if (layout == "NHWC") return BatchLayout::nhwc;
  if (layout == "NCHW") return BatchLayout::nchw;
  throw Error(ErrorKind::usage, "unknown layout '" + std::string(layout) + "'; it is NHWC or NCHW");
}

Shape StackCollate::batch_shape(const Shape& sample, std::int64_t batch_size) const {
  if (layout_ == BatchLayout::nchw && sample.rank() == 3) {
    return {batch_size, sample[2], sample[0], sample[1]};
  }
  return sample.with_leading(batch_size);
}

BatchSpec StackCollate::infer(const SampleSpec& input, std::int64_t batch_size) {
  input_ = input;
  BatchSpec output;
  output.reserve(input.size());
  for (const FieldSpec& field : input) {
    output.push_back({field.name, field.dtype, batch_shape(field.shape, batch_size)});
  }
  return output;
}

TensorView StackCollate::row(const FieldSpec& batch_field, std::byte* base,
                             std::int64_t row) const {
  const Shape& batch = batch_field.shape;
  TensorView view;
  view.dtype = batch_field.dtype;
  if (layout_ == BatchLayout::nchw && batch.rank() == 4) {
    view.shape = {batch[2], batch[3], batch[1]};
    view.strides = {batch[3], 1, batch[2] * batch[3]};
  } else {
    view.shape = Shape(batch.dims().subspan(1));
    view.strides = dense_strides(view.shape);
  }
  const auto row_bytes =
      static_cast<std::size_t>(view.shape.elements()) * size_of(batch_field.dtype);
  view.data = base + static_cast<std::size_t>(row) * row_bytes;
  return view;
}

void StackCollate::gather(std::span<const Sample> samples, OwnedHostBatch& out) const {
  if (samples.empty()) return;
  for (std::size_t i = 0; i < input_.size(); ++i) gather_field(i, samples, out);
  out.batch.padding_share = 0;
}

void StackCollate::gather_field(std::size_t i, std::span<const Sample> samples,
                                OwnedHostBatch& out) const {
  const std::string& name = input_[i].name;
  const Field& first = samples.front().field(name);
  const auto count = static_cast<std::int64_t>(samples.size());
  const FieldSpec batch_field{name, first.dtype(), batch_shape(first.shape(), count)};
  const TensorView tensor = out.resize_field(i, name, batch_field.dtype, batch_field.shape);
  for (std::int64_t r = 0; r < count; ++r) {
    const Sample& sample = samples[static_cast<std::size_t>(r)];
    require_equal(name, samples.front(), sample);
    copy_tensor(sample.field(name).view(), row(batch_field, tensor.data, r));
  }
}

}  // namespace cachebisect
