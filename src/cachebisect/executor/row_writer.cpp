#include "cachebisect/executor/row_writer.hpp"

#include <cstring>
#include <string>

#include "cachebisect/base/error.hpp"

namespace cachebisect {
namespace {

/// The field at its usual place, else wherever it is.
const Field* field_at(const Sample& sample, std::size_t usual, const std::string& name) {
  const auto& fields = sample.fields();
  if (usual < fields.size() && fields[usual].name == name) return &fields[usual].field;
  return sample.find(name);
}

Field& field_at(Sample& sample, std::size_t usual, const std::string& name) {
  auto& fields = sample.fields();
  if (usual < fields.size() && fields[usual].name == name) return fields[usual].field;
  return sample.field(name);
}

void write_row(const RowLayout& layout, std::byte* to, const Sample& sample) {
  const FieldSpec& declared = *layout.sample;
  const Field* field = field_at(sample, layout.field, declared.name);
  if (field == nullptr) {
    throw Error(ErrorKind::data, "its output has no field '" + declared.name + "'");
  }
  if (field->data() == to) return;
  if (field->dtype() != declared.dtype || !(field->shape() == declared.shape)) {
    throw Error(ErrorKind::data,
                "its output '" + declared.name + "' is " + std::string(to_string(field->dtype())) +
                    " " + field->shape().to_string() + ", and all samples were to be " +
                    std::string(to_string(declared.dtype)) + " " + declared.shape.to_string());
  }
  const ConstTensorView from = field->view();
  if (layout.dense && from.is_dense()) {
    std::memcpy(to, from.data, layout.row_bytes);
    return;
  }
  TensorView view = layout.first;
  view.data = to;
  copy_tensor(from, view);
}

}  // namespace

Sample& RowWriter::shown(BatchSlot& slot, std::int64_t row, Sample& buffer) const {
  return dynamic_ ? slot.staged(row) : buffer;
}

Sample& RowWriter::target(BatchSlot& slot, std::int64_t row, Sample& buffer) const {
  if (dynamic_) return slot.staged(row);
  for (const RowLayout& layout : *layouts_) {
    TensorView view = layout.first;
    view.data = slot.row_data(layout, row);
    field_at(buffer, layout.field, layout.sample->name).attach(view);
  }
  return buffer;
}

void RowWriter::store(BatchSlot& slot, std::int64_t row, const Sample& sample,
                      bool in_place) const {
  if (!dynamic_) {
    for (const RowLayout& layout : *layouts_) {
      write_row(layout, slot.row_data(layout, row), sample);
    }
    return;
  }
  Sample& staged = slot.staged(row);
  // From a cache, gather() reads the cache itself; what a worker's buffer holds must be kept.
  if (!in_place) {
    staged.begin_from(sample);
  } else {
    for (Sample::NamedField& named : staged.fields()) named.field.keep();
  }
}

}  // namespace cachebisect
