// Stages made by the registry as a pipeline file would make them, and errors as values.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/pipeline/registry.hpp"
#include "cachebisect/stages.hpp"

namespace test {

using cachebisect::Params;
using cachebisect::ParamValue;

struct NamedValue {
  std::string name;
  ParamValue value;
};

/// Built-in stage `type` with `values` over its defaults. `Kind` is the interface wanted.
template <class Kind>
std::unique_ptr<Kind> make_stage(const std::string& type, const std::vector<NamedValue>& values) {
  cachebisect::Registry registry;
  cachebisect::stages::register_all(registry);
  const cachebisect::StageType& found = registry.stage(type);
  Params given;
  for (const NamedValue& value : values) given.set(value.name, value.value);
  std::unique_ptr<cachebisect::Stage> stage =
      found.make(cachebisect::complete_params(found.params, given));
  return std::unique_ptr<Kind>(dynamic_cast<Kind*>(stage.release()));
}

/// Reads sample `index` of a source that has been opened.
inline cachebisect::Sample read_sample(const cachebisect::SourceStage& source,
                                       std::uint64_t index) {
  cachebisect::Arena arena;
  cachebisect::Sample sample;
  sample.set_index({index});
  source.read(sample, cachebisect::SampleContext({.index = index}, arena));
  return sample;
}

/// One sample through one stage; `input` must outlive the result.
inline cachebisect::Sample process_sample(const cachebisect::SampleStage& stage,
                                          const cachebisect::Sample& input) {
  cachebisect::Arena arena;
  cachebisect::Sample out;
  out.begin_from(input);
  stage.process(input, out, cachebisect::SampleContext({.index = input.index()}, arena));
  return out;
}

/// The message of the Error that `call` throws, behind its exit code: "3: no such file". Empty when
/// it throws none.
inline std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const cachebisect::Error& error) {
    return std::to_string(cachebisect::exit_code(error.kind())) + ": " + error.what();
  }
  return "";
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

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace test
