#include "cachebisect/pipeline/file/tables.hpp"

#include <iterator>

#include "cachebisect/protocol/kinds.hpp"
#include "cachebisect/protocol/settings.hpp"

namespace cachebisect::spec {
namespace {

ParamSpec integer(std::string name, std::string doc, std::int64_t default_value, double minimum,
                  double maximum) {
  return {.name = std::move(name),
          .type = ParamType::integer,
          .doc = std::move(doc),
          .default_value = default_value,
          .minimum = minimum,
          .maximum = maximum};
}

ParamSpec count(const settings::Count& setting, std::int64_t default_value) {
  return integer(std::string(setting.key), std::string(setting.doc), default_value,
                 static_cast<double>(setting.min), static_cast<double>(setting.max));
}

ParamSpec boolean(std::string name, std::string doc, bool default_value) {
  return {.name = std::move(name),
          .type = ParamType::boolean,
          .doc = std::move(doc),
          .default_value = default_value};
}

ParamSpec choice(std::string name, std::string doc, std::vector<std::string> choices) {
  std::string first = choices.front();
  return {.name = std::move(name),
          .type = ParamType::string,
          .doc = std::move(doc),
          .default_value = std::move(first),
          .choices = std::move(choices)};
}

ParamSpec loader_param() {
  std::vector<std::string> names;
  names.reserve(std::size(kLoaderKinds));
  for (const LoaderKind kind : kLoaderKinds) names.emplace_back(to_string(kind));
  return choice(std::string(settings::kLoader),
                "how workers share the work: sample: the samples of a batch; batch: a batch per "
                "worker, delivered in order, as PyTorch does",
                std::move(names));
}

ParamSpec number(std::string name, std::string doc, double default_value, double minimum,
                 double maximum) {
  return {.name = std::move(name),
          .type = ParamType::number,
          .doc = std::move(doc),
          .default_value = default_value,
          .minimum = minimum,
          .maximum = maximum};
}

ParamSpec above_zero(ParamSpec spec) {
  spec.minimum = 0;
  spec.exclusive_minimum = true;
  return spec;
}

}  // namespace

std::vector<ParamSpec> top_params() {
  return {
      {.name = "name",
       .type = ParamType::string,
       .doc = "name of the pipeline in reports",
       .default_value = "pipeline"},
      count(settings::kSeed, 1),
      count(settings::kBatchSize, 32),
      count(settings::kPrefetch, 2),
      boolean("shuffle", "a new order in each epoch", true),
      boolean("drop_last", "leave out the last, smaller batch of an epoch", true),
      loader_param(),
  };
}

std::vector<std::string> top_keys() { return {settings::kKeys.begin(), settings::kKeys.end()}; }

ParamSpec workers_param() { return count(settings::kWorkers, 0); }

std::vector<ParamSpec> model_params() {
  return {
      {.name = "model",
       .type = ParamType::string,
       .doc = "built-in model",
       .choices = {"mlp", "lenet", "resnet18", "resnet50"}},
      integer("classes", "outputs of the model", 10, 1, 1000000),
      choice("loss", "loss function", {"cross_entropy"}),
      choice("precision", "arithmetic of the model", {"fp32", "bf16-mixed"}),
      sync_every_param(),
      {.name = "threads",
       .type = ParamType::integer,
       .doc = "threads of the step on the cpu; absent: usable physical cores - workers, at least 1",
       .optional = true,
       .minimum = 1,
       .maximum = static_cast<double>(settings::kWorkers.max)},
  };
}

const std::vector<std::string>& optimizer_kinds() {
  static const std::vector<std::string> kKinds{"sgd", "adam", "adamw"};
  return kKinds;
}

std::vector<ParamSpec> optimizer_params(const std::string& kind) {
  ParamSpec kind_param = choice("kind", "optimizer", optimizer_kinds());
  std::vector<ParamSpec> params{std::move(kind_param),
                                above_zero(number("lr", "learning rate", 0.001, 0, 1000)),
                                number("weight_decay", "weight decay", 0, 0, 1000)};
  if (kind == "sgd") params.push_back(number("momentum", "momentum of sgd", 0, 0, 1));
  return params;
}

ParamSpec sync_every_param() {
  return integer("sync_every", "steps between waits for the loss, as loss.item() does; 0: never", 0,
                 0, 1000000000);
}

ParamSpec train_kind_param() {
  return {
      .name = "kind",
      .type = ParamType::string,
      .doc =
          "callback: a step given by the library's user; emulated: a step of the emulated device",
      .choices = {"callback", "emulated"}};
}

std::vector<ParamSpec> emulate_params() {
  return {
      above_zero(number("step_ms", "milliseconds that a training step takes", 25, 0, 3600000)),
      above_zero(
          number("copy_gb_per_s", "host-to-device bandwidth in GB/s (10^9 bytes)", 12, 0, 1000000)),
      number("copy_latency_us", "microseconds that a copy takes in addition to its bytes", 10, 0,
             1000000),
      {.name = "jitter",
       .type = ParamType::jitter,
       .doc = "spread of the step's time around its mean"},
  };
}

std::vector<ParamSpec> jitter_params() {
  return {choice("kind", "distribution", {"none", "lognormal", "pareto"}),
          number("cv", "standard deviation over mean", 0, 0, kMaxJitterCv)};
}

ParamSpec on_error_param() {
  return choice("on_error", "a damaged sample fails the run, or is skipped and counted",
                {"fail", "skip"});
}

ParamSpec stage_name_param() {
  return {.name = "name",
          .type = ParamType::string,
          .doc = "name of the stage in reports and --set",
          .optional = true};
}

}  // namespace cachebisect::spec
