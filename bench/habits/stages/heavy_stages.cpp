// Stages that really move memory: items that do not fit the processor's caches, and a stage that
// writes its input.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "bench/habits/stages/register.hpp"
#include "bench/habits/stages/spending.hpp"

namespace cachebisect::habits {
namespace {

const FieldSpec& bytes_of(const SampleSpec& input, const std::string& name) {
  const FieldSpec* const field = find_field(input, name);
  if (field == nullptr || field->dtype != DType::uint8) {
    throw Error(ErrorKind::usage, "needs a uint8 field \"" + name + "\"");
  }
  return *field;
}

class Expand final : public SampleStage {
 public:
  explicit Expand(const Params& params)
      : field_(params.strings("fields").front()), bytes_(params.integer("bytes")) {}

  [[nodiscard]] SampleSpec infer(const SampleSpec& input) override {
    static_cast<void>(bytes_of(input, field_));
    SampleSpec output = input;
    for (FieldSpec& field : output) {
      if (field.name == field_) field.shape = Shape{bytes_};
    }
    return output;
  }
  void process(const Sample& input, Sample& out, const SampleContext& /*context*/) const override {
    const auto from = input.field(field_).as<std::uint8_t>();
    const auto to = out.field(field_).resize_as<std::uint8_t>(Shape{bytes_});
    for (std::size_t at = 0; at < to.size(); at += from.size()) {
      std::memcpy(to.data() + at, from.data(), std::min(from.size(), to.size() - at));
    }
  }

 private:
  std::string field_;
  std::int64_t bytes_;
};

class Sum final : public SampleStage {
 public:
  explicit Sum(const Params& params) : field_(params.strings("fields").front()) {}

  [[nodiscard]] SampleSpec infer(const SampleSpec& input) override {
    static_cast<void>(bytes_of(input, field_));
    SampleSpec output = input;
    for (FieldSpec& field : output) {
      if (field.name == field_) field = {field_, DType::int64, Shape{}};
    }
    return output;
  }
  void process(const Sample& input, Sample& out, const SampleContext& /*context*/) const override {
    const auto from = input.field(field_).as<std::uint8_t>();
    out.field(field_).set(std::accumulate(from.begin(), from.end(), std::int64_t{0}));
  }

 private:
  std::string field_;
};

class WriteInput final : public SampleStage {
 public:
  explicit WriteInput(const Params& params)
      : field_(params.strings("fields").front()),
        seconds_(1e-6 * params.number("us")),
        spending_(params) {}

  [[nodiscard]] SampleSpec infer(const SampleSpec& input) override {
    static_cast<void>(bytes_of(input, field_));
    return input;
  }
  void process(const Sample& input, Sample& /*out*/,
               const SampleContext& /*context*/) const override {
    // The habit itself: what lies behind the input is changed in place.
    auto* const first = const_cast<std::byte*>(input.field(field_).data());
    *first = static_cast<std::byte>(std::to_integer<int>(*first) + 1);
    spending_.spend(seconds_);
  }

 private:
  std::string field_;
  double seconds_;
  Spending spending_;
};

}  // namespace

void register_heavy_stages(Registry& registry) {
  registry.add(stage_type<Expand>("habit.expand", "Repeats the bytes of a field up to a size",
                                  {count_param("bytes", "size of the output, in bytes", 1, 1e9)},
                                  R"({"bytes": 4096})"));
  registry.add(stage_type<Sum>("habit.sum", "Reduces a field of bytes to their sum", {}, "{}"));
  registry.add(stage_type<WriteInput>(
      "habit.write_input", "Writes its input, which no stage may do",
      {number_param("us", "cost per sample, in microseconds", 0, 1e7), spends_param()},
      R"({"us": 5})"));
}

}  // namespace cachebisect::habits
