// Stages made by the registry as a pipeline file would make them, and one sample through them.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/all_stages.hpp"

namespace cachebisect::test {

struct NamedValue {
  std::string name;
  ParamValue value;
};

/// `values` over the defaults of the type.
inline Params params_of(const StageType& type, const std::vector<NamedValue>& values) {
  Params given;
  for (const NamedValue& value : values) given.set(value.name, value.value);
  return complete_params(type.params, given);
}

/// Built-in stage `type` as a `Kind`, the interface that the caller needs.
template <class Kind>
std::unique_ptr<Kind> make_stage(const std::string& type, const std::vector<NamedValue>& values) {
  const StageType& found = all_stages().stage(type);
  std::unique_ptr<Stage> stage = found.make(params_of(found, values));
  return std::unique_ptr<Kind>(dynamic_cast<Kind*>(stage.release()));
}

/// A source of the data at `path`, with its output declared but not yet opened.
inline std::unique_ptr<SourceStage> make_source(const std::string& type, const std::string& path,
                                                std::vector<NamedValue> values = {}) {
  values.push_back({"path", path});
  auto source = make_stage<SourceStage>(type, values);
  static_cast<void>(source->infer());
  return source;
}

/// Reads sample `index` of a source that has been opened.
inline Sample read_sample(const SourceStage& source, std::uint64_t index) {
  Arena arena;
  Sample sample;
  sample.set_index({index});
  source.read(sample, SampleContext({.index = index}, arena));
  return sample;
}

/// One sample through one stage; `input` must outlive the result.
inline Sample process_sample(const SampleStage& stage, const Sample& input) {
  Arena arena;
  Sample out;
  out.begin_from(input);
  stage.process(input, out, SampleContext({.index = input.index()}, arena));
  return out;
}

/// Whether this build decodes files of this name's format.
inline bool decodable(const std::string& file) {
#ifdef CACHEBISECT_WITH_TURBOJPEG
  constexpr bool kJpeg = true;
#else
  constexpr bool kJpeg = false;
#endif
#ifdef CACHEBISECT_WITH_OPENCV
  constexpr bool kOthers = true;
#else
  constexpr bool kOthers = false;
#endif
  return file.ends_with(".jpg") ? kJpeg : kOthers;
}

}  // namespace cachebisect::test
