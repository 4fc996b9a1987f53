#include "cachebisect/pipeline/callable_stages.hpp"

#include <algorithm>

namespace cachebisect {
namespace {

std::string describe_field(const Sample& sample, const Field& field) {
  return "sample " + std::to_string(sample.index().value) + " has " +
         std::string(to_string(field.dtype())) + " " + field.shape().to_string();
}

// Widens `spec`, taken from `first`, to cover `sample`.
void join(FieldSpec& spec, const Sample& first, const Sample& sample) {
  const Field* field = sample.find(spec.name);
  if (field == nullptr) {
    throw Error(ErrorKind::data, "sample " + std::to_string(sample.index().value) +
                                     " has no field '" + spec.name + "', and sample " +
                                     std::to_string(first.index().value) +
                                     " has; all samples need the same fields");
  }
  if (field->dtype() != spec.dtype || field->shape().rank() != spec.shape.rank()) {
    throw Error(ErrorKind::data, "field '" + spec.name +
                                     "' differs: " + describe_field(first, first.field(spec.name)) +
                                     ", " + describe_field(sample, *field) +
                                     "; all samples need the same dtype and number of dimensions");
  }
  for (std::size_t i = 0; i < spec.shape.rank(); ++i) {
    if (field->shape()[i] != spec.shape[i]) spec.shape[i] = kDynamic;
  }
}

}  // namespace

std::vector<std::uint64_t> probe_indices(std::uint64_t size) {
  if (size == 0) return {};
  std::vector<std::uint64_t> indices{0, size / 3, size - size / 3 - 1, size - 1};
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  return indices;
}

SampleSpec spec_of(std::span<const Sample> outputs) {
  SampleSpec spec;
  if (outputs.empty()) return spec;
  for (const Sample::NamedField& named : outputs.front().fields()) {
    spec.push_back({named.name, named.field.dtype(), named.field.shape()});
  }
  for (FieldSpec& field : spec) {
    for (const Sample& sample : outputs.subspan(1)) join(field, outputs.front(), sample);
  }
  return spec;
}

SampleSpec CallableSource::infer() {
  std::vector<Sample> outputs;
  for (const std::uint64_t index : probe_indices(size_)) {
    Sample& sample = outputs.emplace_back();
    sample.set_index({index});
    read_({index}, sample);
  }
  return spec_of(outputs);
}

SampleSpec CallableStage::infer(const SampleSpec& /*input*/) {
  if (learnt_.empty()) {
    throw Error(ErrorKind::internal,
                "a callable stage was inferred before its outputs were learnt");
  }
  return learnt_;
}

}  // namespace cachebisect
