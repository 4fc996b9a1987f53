#include "stages/support/synthetic.hpp"

#include "cachebisect/base/random.hpp"
#include "cachebisect/data/shown_bytes.hpp"

namespace cachebisect::stages {
namespace {

// Windows of consecutive indices begin kStep bytes apart, at one of kWindows positions.
constexpr std::uint64_t kStep = 64;
constexpr std::uint64_t kWindows = 64;

}  // namespace

FreeBytes::FreeBytes(std::int64_t bytes)
    : bytes_(bytes), data_(static_cast<std::size_t>(bytes) + kStep * kWindows) {
  RandomStream random({.seed = 1});
  for (std::byte& byte : data_) byte = static_cast<std::byte>(random.next_u32() & 0xFFU);
}

void FreeBytes::show(std::uint64_t index, Field& field) const {
  show_bytes(field, data_.data() + index % kWindows * kStep, Shape{bytes_});
}

std::vector<ParamSpec> cost_params() {
  return {{.name = "us",
           .type = ParamType::number,
           .doc = "mean cost per sample, in microseconds",
           .minimum = 0,
           .maximum = 1e7},
          {.name = "jitter",
           .type = ParamType::jitter,
           .doc = "how the cost varies from sample to sample",
           .optional = true}};
}

CostStage::CostStage(const Params& params)
    : seconds_(params.number("us") * 1e-6), jitter_(params.jitter(), 0) {}

void CostStage::process(const Sample&, Sample&, const SampleContext& context) const {
  // Offset by the stage's key, so that two stages of a chain do not vary together.
  const std::uint64_t position = context.index().value + (context.stage_key() >> 8);
  spend(seconds_ * jitter_.factor(position), context);
}

ParamSpec bytes_param(std::string doc, std::int64_t default_value) {
  return {.name = "bytes",
          .type = ParamType::integer,
          .doc = std::move(doc),
          .default_value = default_value,
          .minimum = 1,
          .maximum = 1e9};
}

}  // namespace cachebisect::stages
