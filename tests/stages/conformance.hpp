// Support of the conformance suite: stages from their examples, inputs to try, a worker.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "support/all_stages.hpp"
#include "support/files.hpp"
#include "support/random_bytes.hpp"
#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/pace.hpp"

namespace cachebisect::test {

inline ParamValue value_of(const ParamSpec& spec, const nlohmann::json& json) {
  switch (spec.type) {
    case ParamType::boolean:
      return json.get<bool>();
    case ParamType::integer:
      return json.get<std::int64_t>();
    case ParamType::number:
      return json.get<double>();
    case ParamType::number_list:
      return json.get<std::vector<double>>();
    case ParamType::string_list:
      return json.get<std::vector<std::string>>();
    default:
      return json.get<std::string>();
  }
}

/// Where stages of examples write.
inline const TemporaryFolder& example_folder() {
  static const TemporaryFolder folder;
  return folder;
}

/// The parameters of the type's example, without defaults. Paths lie in example_folder().
inline Params example_params(const StageType& type) {
  const nlohmann::json example = nlohmann::json::parse(type.example);
  Params params;
  for (const ParamSpec& spec : type.params) {
    if (spec.type != ParamType::jitter && example.contains(spec.name))
      params.set(spec.name, value_of(spec, example.at(spec.name)));
    if (spec.type == ParamType::path && params.has(spec.name)) {
      params.set(spec.name, example_folder().path(params.string(spec.name)));
    }
  }
  return params;
}

template <class Kind>
std::shared_ptr<Kind> make(const StageType& type, Params given) {
  std::shared_ptr<Stage> stage = type.make(complete_params(type.params, std::move(given)));
  return std::dynamic_pointer_cast<Kind>(stage);
}

template <class Kind>
std::shared_ptr<Kind> make_example(const StageType& type) {
  return make<Kind>(type, example_params(type));
}

/// Fills a field with bytes that depend on `seed` and are finite as float32 and as float16.
inline void fill(Field& field, DType dtype, const Shape& shape, std::uint64_t seed) {
  const TensorView view = field.resize(dtype, shape);
  RandomStream random({.seed = seed});
  const auto count = static_cast<std::size_t>(shape.elements());
  if (dtype == DType::boolean) {
    for (std::size_t i = 0; i < count; ++i) view.data[i] = static_cast<std::byte>(random.below(2));
    return;
  }
  if (dtype != DType::float32 && dtype != DType::int64) {
    draw_bytes(random, {view.data, count});
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t bits = random.next_u32();
    if (dtype == DType::float32) {
      const float value = static_cast<float>(bits % 1000) / 1000.0F;
      std::memcpy(view.data + i * sizeof value, &value, sizeof value);
    } else {
      const std::int64_t value = bits % 10;
      std::memcpy(view.data + i * sizeof value, &value, sizeof value);
    }
  }
}

/// An input to try: a sample with this `image` and a `label` that is an int64 below 10.
struct Candidate {
  FieldSpec image;
  std::string file;  ///< the content of the image, instead of random bytes

  [[nodiscard]] SampleSpec spec() const {
    FieldSpec shown = image;
    if (!file.empty()) shown.shape = {kDynamic};
    return {shown, {"label", DType::int64, Shape{}}};
  }
  void fill_sample(Sample& sample, std::uint64_t index) const {
    sample.set_index({index});
    if (file.empty()) {
      fill(sample.field("image"), image.dtype, image.shape, index);
    } else {
      sample.field("image").assign(std::string_view(read_file(file)));
    }
    sample.field("label").set(static_cast<std::int64_t>(index % 10));
  }
};

inline std::vector<Candidate> candidates() {
  return {{{"image", DType::uint8, Shape{40, 48, 3}}, ""},
          {{"image", DType::uint8, Shape{40, 48, 1}}, ""},
          {{"image", DType::float32, Shape{40, 48, 3}}, ""},
          {{"image", DType::boolean, Shape{16, 24, 1}}, ""},
          {{"image", DType::int64, Shape{16, 24, 3}}, ""},
          {{"image", DType::uint8, Shape{3072}}, ""},
          {{"image", DType::uint8, Shape{784}}, ""},
          {{"image", DType::uint8, Shape{}},
           CACHEBISECT_SOURCE_DIR "/tests/fixtures/conformance/tiny.jpg"},
          {{"image", DType::uint8, Shape{}},
           CACHEBISECT_SOURCE_DIR "/tests/fixtures/conformance/tiny.wav"},
          {{"image", DType::uint8, Shape{}},
           CACHEBISECT_SOURCE_DIR "/tests/fixtures/conformance/tiny.mp4"}};
}

inline std::vector<std::byte> bytes_of(const ConstTensorView& view) {
  std::vector<std::byte> bytes(view.byte_size());
  copy_tensor(view, dense_view(bytes.data(), view.dtype, view.shape));
  return bytes;
}

/// The bytes of all fields of a sample, concatenated.
inline std::vector<std::byte> bytes_of(const Sample& sample) {
  std::vector<std::byte> bytes;
  for (const auto& field : sample.fields()) {
    const auto more = bytes_of(field.field.view());
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  return bytes;
}

/// A worker: an arena, and an output sample that is reused.
class Worker {
 public:
  const Sample& run(const SampleStage& stage, const Sample& input, std::uint64_t epoch = 0) {
    out_.begin_from(input);
    const RandomKey key{.seed = 7, .epoch = epoch, .index = input.index(), .stage = 11};
    const PaceOfThread use(&pace_);
    stage.process(input, out_, SampleContext(key, arena_));
    arena_.reset();
    return out_;
  }
  Sample& out() { return out_; }
  [[nodiscard]] std::size_t capacity() const {
    std::size_t bytes = arena_.capacity();
    for (const auto& field : out_.fields()) bytes += field.field.capacity();
    return bytes;
  }

 private:
  Arena arena_;
  WorkerPace pace_;
  Sample out_;
};

/// All candidates that a fresh stage of this type accepts. A sample is run too, because only the
/// bytes tell whether they are an image.
inline std::vector<Candidate> accepted(const StageType& type) {
  std::vector<Candidate> found;
  for (const Candidate& candidate : candidates()) {
    try {
      const auto stage = make_example<SampleStage>(type);
      static_cast<void>(stage->infer(candidate.spec()));
      stage->open();
      Sample sample;
      candidate.fill_sample(sample, 0);
      static_cast<void>(Worker().run(*stage, sample));
      found.push_back(candidate);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::internal) throw;
    }
  }
  return found;
}

/// Whether this build was made without the library of this stage, which says so.
inline bool lacks_library(const StageType& type) {
  try {
    const auto stage = make_example<SampleStage>(type);
    static_cast<void>(stage->infer({{"image", DType::uint8, {kDynamic}}}));
    stage->open();
    return false;
  } catch (const Error& error) {
    return std::string(error.what()).find("this build has no ") != std::string::npos;
  }
}

}  // namespace cachebisect::test
