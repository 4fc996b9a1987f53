#include "cachebisect/data/batch.hpp"

namespace cachebisect {

const BatchField* Batch::find(std::string_view name) const noexcept {
  for (const BatchField& field : fields) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

const TensorView& Batch::tensor(std::string_view name) const {
  if (const BatchField* field = find(name)) return field->tensor;
  std::string known;
  for (const BatchField& field : fields) known += (known.empty() ? "" : ", ") + field.name;
  throw Error(ErrorKind::usage,
              "the batch has no field '" + std::string(name) + "'; it has " + known);
}

std::size_t Batch::byte_size() const noexcept {
  std::size_t bytes = 0;
  for (const BatchField& field : fields) bytes += field.tensor.byte_size();
  return bytes;
}

}  // namespace cachebisect
