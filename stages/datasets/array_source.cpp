#include "stages/datasets/array_source.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"
#include "cachebisect/data/sample_place.hpp"

namespace cachebisect::stages {
namespace {

/// Labels that are read at once.
constexpr std::int64_t kReadAtOnce = std::int64_t{1} << 22U;

}  // namespace

ArraySource::ArraySource(const Params& params, ArrayFormat format)
    : path_(params.string("path")),
      format_(std::move(format)),
      labels_name_(params.string("labels")),
      extents_(window_extents(params)),
      unpack_(params.boolean("unpack")),
      cache_bytes_(static_cast<std::size_t>(params.number("chunk_cache_mb") * 1e6)) {}

std::string ArraySource::called(const std::string& name) const {
  return path_ + ": the " + format_.word + " " + quote(name);
}

SampleSpec ArraySource::infer() {
  array_ = format_.open(format_.name, cache_bytes_);
  const StoredArray::Facts& facts = array_->facts();
  values_.emplace(facts.type, facts.attributes, unpack_);
  const std::optional<DType> dtype = values_->dtype();
  if (!dtype) {
    throw Error(ErrorKind::data, called(format_.name) +
                                     " has elements of uint64, which no tensor has: write it as "
                                     "int64");
  }
  dtype_ = *dtype;
  grid_.emplace(facts.shape, extents_.window, extents_.step);
  require_sample_fits(*grid_, std::max(size_of(dtype_), stages::stored_bytes(facts.type)),
                      called(format_.name));
  SampleSpec spec{{"image", dtype_, grid_->sample_shape()}};
  if (!labels_name_.empty()) spec.push_back({"label", DType::int64, {}});
  return spec;
}

LabelArray ArraySource::open_labels() const {
  const std::shared_ptr<const StoredArray> array = format_.open(labels_name_, 0);
  const StoredArray::Facts& facts = array->facts();
  const StoredValues values(facts.type, facts.attributes, false);
  const DType dtype = values.dtype().value_or(DType::float64);  // of uint64, which is refused
  return {.what = called(labels_name_),
          .dtype = dtype,
          .shape = facts.shape,
          .piece = kReadAtOnce,
          .read = [array, values](const ArrayBox& box, std::span<std::byte> out) {
            std::vector<std::byte> stored(static_cast<std::size_t>(box.extent.elements()) *
                                          stages::stored_bytes(array->facts().type));
            array->read(box, stored.data());
            values.convert(stored, out.data());
          }};
}

void ArraySource::open_with(const OpenContext& context) {
  if (labels_name_.empty()) return;
  labels_ =
      WindowLabels([this] { return open_labels(); }, path_ + '\0' + labels_name_, *grid_, context);
}

void ArraySource::read(Sample& out, const SampleContext& context) const {
  const std::uint64_t index = context.index();
  require_sample(index, size());
  out.set_origin(path_);
  const Shape shape = grid_->sample_shape();
  const TensorView image = out.field("image").resize(dtype_, shape);
  const std::size_t element_bytes = stages::stored_bytes(array_->facts().type);
  const std::size_t bytes = static_cast<std::size_t>(shape.elements()) * element_bytes;
  // In place where the sizes are equal.
  const bool in_place = element_bytes == size_of(dtype_);
  std::byte* const stored = in_place ? image.data : context.arena().take(bytes).data();
  context.add_serial_seconds(array_->read(grid_->box(index), stored));
  if (!values_->are_stored()) values_->convert({stored, bytes}, image.data);
  if (!labels_.empty()) out.field("label").set(labels_.of(index));
}

}  // namespace cachebisect::stages
