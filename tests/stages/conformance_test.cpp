// One suite that every built-in stage passes, made from its own example.
#include "stages/conformance.hpp"

#include <cmath>
#include <limits>
#include <thread>

#include "support/allocation_counter.hpp"
#include "support/errors.hpp"
#include "support/sanitized.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

constexpr std::uint64_t kSamples = 40;

std::vector<Sample> make_samples(const Candidate& candidate) {
  std::vector<Sample> samples(kSamples);
  for (std::uint64_t i = 0; i < kSamples; ++i) candidate.fill_sample(samples[i], i);
  return samples;
}

// A stage that is ready to run, and its declared output.
struct Ready {
  std::shared_ptr<SampleStage> stage;
  SampleSpec output;
};

Ready make_ready(const StageType& type, const Candidate& candidate) {
  Ready ready{make_example<SampleStage>(type), {}};
  ready.output = ready.stage->infer(candidate.spec());
  ready.stage->open();
  return ready;
}

// Calls `check(type, candidate)` for every sample stage and every input that it accepts.
template <class Check>
void for_each_sample_stage(Check&& check) {
  for (const StageType& type : all_stages().stages()) {
    if (type.kind != StageKind::sample) continue;
    for (const Candidate& candidate : accepted(type)) {
      CAPTURE(type.type);
      CAPTURE(candidate.image.shape.to_string());
      CAPTURE(to_string(candidate.image.dtype));
      check(type, candidate);
    }
  }
}

bool agrees(const FieldSpec& declared, const Field& field) {
  if (declared.dtype != field.dtype() || declared.shape.rank() != field.shape().rank())
    return false;
  for (std::size_t axis = 0; axis < declared.shape.rank(); ++axis) {
    if (declared.shape[axis] != kDynamic && declared.shape[axis] != field.shape()[axis])
      return false;
  }
  return true;
}

}  // namespace

TEST_CASE("every sample stage accepts at least one kind of input") {
  std::size_t stages = 0;
  for (const StageType& type : all_stages().stages()) {
    if (type.kind != StageKind::sample) continue;
    CAPTURE(type.type);
    CHECK((!accepted(type).empty() || lacks_library(type)));
    ++stages;
  }
  CHECK(stages >= 20);
}

TEST_CASE("outputs depend only on input, parameters, seed, epoch and index") {
  for_each_sample_stage([](const StageType& type, const Candidate& candidate) {
    const std::vector<Sample> samples = make_samples(candidate);
    const Ready first = make_ready(type, candidate);
    const Ready second = make_ready(type, candidate);
    std::vector<std::vector<std::byte>> forward;
    Worker one;
    for (const Sample& sample : samples) forward.push_back(bytes_of(one.run(*first.stage, sample)));
    // Another object, two workers at once, reverse order.
    std::vector<std::vector<std::byte>> backward(samples.size());
    const auto work = [&](std::size_t parity) {
      Worker worker;
      for (std::size_t i = samples.size(); i-- > 0;) {
        if (i % 2 == parity) backward[i] = bytes_of(worker.run(*second.stage, samples[i]));
      }
    };
    std::thread other(work, std::size_t{1});
    work(0);
    other.join();
    CHECK(forward == backward);
  });
}

TEST_CASE("stages differ from epoch to epoch exactly if they are declared random") {
  for_each_sample_stage([](const StageType& type, const Candidate& candidate) {
    const std::vector<Sample> samples = make_samples(candidate);
    const Ready ready = make_ready(type, candidate);
    Worker worker;
    bool differs = false;
    for (const Sample& sample : samples) {
      const auto first = bytes_of(worker.run(*ready.stage, sample, 0));
      differs = differs || first != bytes_of(worker.run(*ready.stage, sample, 1));
    }
    CHECK(differs == type.traits.random);
  });
}

TEST_CASE("stages do not change their input") {
  for_each_sample_stage([](const StageType& type, const Candidate& candidate) {
    const std::vector<Sample> samples = make_samples(candidate);
    const Ready ready = make_ready(type, candidate);
    Worker worker;
    for (const Sample& sample : samples) {
      const auto before = bytes_of(sample);
      static_cast<void>(worker.run(*ready.stage, sample));
      REQUIRE(bytes_of(sample) == before);
    }
  });
}

TEST_CASE("outputs match their declaration, and other fields pass through without a copy") {
  for_each_sample_stage([](const StageType& type, const Candidate& candidate) {
    const std::vector<Sample> samples = make_samples(candidate);
    const Ready ready = make_ready(type, candidate);
    const SampleSpec input = candidate.spec();
    Worker worker;
    for (const Sample& sample : samples) {
      const Sample& out = worker.run(*ready.stage, sample);
      REQUIRE(out.fields().size() == ready.output.size());
      for (const FieldSpec& declared : ready.output) {
        CAPTURE(declared.name);
        REQUIRE(agrees(declared, out.field(declared.name)));
      }
      const bool on_labels = type.type == "augment.one_hot" || type.type == "augment.drop";
      const std::string untouched = on_labels ? "image" : "label";
      REQUIRE(out.field(untouched).data() == sample.field(untouched).data());
    }
  });
}

TEST_CASE("stages with strided output write the same values into a row of another layout") {
  std::size_t checked = 0;
  for_each_sample_stage([&](const StageType& type, const Candidate& candidate) {
    const Ready ready = make_ready(type, candidate);
    const FieldSpec* image = find_field(ready.output, "image");
    if (!image->shape.is_static() || image->shape.rank() != 3 || image->shape[2] == 1) return;
    const Shape& shape = image->shape;
    std::vector<std::byte> memory(static_cast<std::size_t>(shape.elements()) *
                                  size_of(image->dtype));
    TensorView row = dense_view(memory.data(), image->dtype, shape);
    row.strides = {shape[1], 1, shape[0] * shape[1]};
    Worker dense;
    Worker strided;
    bool written = false;
    for (const Sample& sample : make_samples(candidate)) {
      const auto wanted = bytes_of(dense.run(*ready.stage, sample).field("image").view());
      strided.out().begin_from(sample);
      strided.out().field("image").attach(row);
      const Field& got = strided.run(*ready.stage, sample).field("image");
      REQUIRE(bytes_of(got.view()) == wanted);
      // A stage that has nothing to change may leave a view of its input.
      written = written || got.data() == memory.data();
    }
    CHECK(written == type.traits.strided_output);
    ++checked;
  });
  CHECK(checked >= 10);
}

TEST_CASE("memory does not grow in the steady state, and nothing is allocated") {
  for_each_sample_stage([](const StageType& type, const Candidate& candidate) {
    const std::vector<Sample> samples = make_samples(candidate);
    const Ready ready = make_ready(type, candidate);
    Worker worker;
    const auto pass = [&](std::uint64_t epochs) {
      for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
        for (const Sample& sample : samples)
          static_cast<void>(worker.run(*ready.stage, sample, epoch));
      }
    };
    const std::uint64_t epochs = (kIsSanitized ? 80 : 1000) / kSamples;
    pass(epochs);
    const std::size_t capacity = worker.capacity();
    const std::uint64_t before = allocations.load();
    pass(epochs);
    const std::uint64_t after = allocations.load();
    CHECK(worker.capacity() == capacity);
    if (!type.traits.allocates) CHECK(after == before);
  });
}

TEST_CASE("inputs that do not fit are refused with an error that names the field") {
  const SampleSpec wrong[] = {
      {{"image", DType::float64, Shape{2, 2}}, {"label", DType::float32, Shape{3}}},
      {{"other", DType::uint8, Shape{40, 48, 3}}}};
  const auto takes_any = [](const StageType& type) {
    return type.type.starts_with("synthetic.") || type.type == "augment.narrow" ||
           type.type == "augment.drop" || type.type == "augment.pack_nonzeros" ||
           !type.takes_fields();
  };
  for (const StageType& type : all_stages().stages()) {
    if (type.kind != StageKind::sample || takes_any(type)) continue;
    for (const SampleSpec& spec : wrong) {
      CAPTURE(type.type);
      const auto stage = make_example<SampleStage>(type);
      CHECK(has(usage_error([&] { static_cast<void>(stage->infer(spec)); }), "field"));
    }
  }
}

namespace {

// Values that the declaration must refuse.
std::vector<ParamValue> hostile_values(const ParamSpec& spec) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<ParamValue> values;
  const auto add_beyond = [&](auto wrap) {
    if (spec.minimum)
      values.push_back(wrap(spec.exclusive_minimum ? *spec.minimum : *spec.minimum - 1));
    if (spec.maximum) values.push_back(wrap(*spec.maximum + 1));
  };
  switch (spec.type) {
    case ParamType::boolean:
      return {std::int64_t{1}, std::string("yes")};
    case ParamType::integer:
      add_beyond([](double value) -> ParamValue { return static_cast<std::int64_t>(value); });
      values.insert(values.end(), {ParamValue{0.5}, ParamValue{nan}, ParamValue{std::string("1")}});
      return values;
    case ParamType::number:
      add_beyond([](double value) -> ParamValue { return value; });
      values.insert(values.end(), {ParamValue{nan}, ParamValue{infinity}, ParamValue{true}});
      return values;
    case ParamType::number_list: {
      const std::size_t items = std::max<std::size_t>(spec.min_items, 1);
      add_beyond([&](double value) -> ParamValue { return std::vector<double>(items, value); });
      values.emplace_back(std::vector<double>(items, nan));
      if (spec.min_items > 0) values.emplace_back(std::vector<double>{});
      if (spec.max_items < 100) values.emplace_back(std::vector<double>(spec.max_items + 1, 1.0));
      values.emplace_back(1.0);
      return values;
    }
    case ParamType::string:
    case ParamType::path:
      if (!spec.choices.empty()) values.emplace_back(std::string("no such choice"));
      values.emplace_back(std::int64_t{1});
      return values;
    case ParamType::string_list:
      if (spec.min_items > 0) values.emplace_back(std::vector<std::string>{});
      values.emplace_back(std::string("image"));
      return values;
    case ParamType::jitter:
      break;
  }
  return values;
}

}  // namespace

TEST_CASE("parameters outside their declared range are refused by name") {
  std::size_t tried = 0;
  for (const StageType& type : all_stages().stages()) {
    for (const ParamSpec& spec : type.params) {
      for (const ParamValue& value : hostile_values(spec)) {
        CAPTURE(type.type);
        CAPTURE(spec.name);
        Params params = example_params(type);
        params.set(spec.name, value);
        CHECK(has(usage_error([&] { static_cast<void>(make<Stage>(type, params)); }), spec.name));
        ++tried;
      }
    }
  }
  CHECK(tried > 100);
}

TEST_CASE("every stage and parameter is documented, and the example makes a stage") {
  for (const StageType& type : all_stages().stages()) {
    CAPTURE(type.type);
    CHECK(!type.doc.empty());
    CHECK(type.doc.find('\n') == std::string::npos);
    for (const ParamSpec& spec : type.params) {
      CAPTURE(spec.name);
      CHECK(!spec.doc.empty());
    }
    const nlohmann::json example = nlohmann::json::parse(type.example);
    for (const auto& item : example.items()) {
      CHECK(std::ranges::find(type.params, item.key(), &ParamSpec::name) != type.params.end());
    }
    const auto stage = make_example<Stage>(type);
    REQUIRE(stage != nullptr);
    CHECK(stage->kind() == type.kind);
  }
}
