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

/// `params` and what every form of `train` that runs in LibTorch takes.
std::vector<ParamSpec> with_arithmetic(std::vector<ParamSpec> params) {
  params.push_back(choice("precision", "arithmetic of the model; fp16-mixed scales the loss",
                          {"fp32", "bf16-mixed", "fp16-mixed"}));
  params.push_back(choice("memory_format", "order of images and weights in memory",
                          {"contiguous", "channels_last"}));
  params.push_back(integer("accumulate", "batches whose gradients one step of the optimizer uses",
                           1, 1, 1000000));
  params.push_back(boolean(
      "cudnn_benchmark", "cuDNN measures its algorithms (torch.backends.cudnn.benchmark)", false));
  params.push_back(boolean(
      "cuda_graph", "the step is recorded as a CUDA graph once, and replayed (CUDA alone)", false));
  params.push_back({.name = "tf32",
                    .type = ParamType::boolean,
                    .doc = "TF32 for matrix products and convolutions on CUDA; absent: LibTorch's "
                           "default, convolutions only",
                    .optional = true});
  for (ParamSpec& wait : wait_params()) params.push_back(std::move(wait));
  params.push_back(
      {.name = "threads",
       .type = ParamType::integer,
       .doc = "threads of the step on the cpu; absent: usable physical cores - workers, at least 1",
       .optional = true,
       .minimum = 1,
       .maximum = static_cast<double>(settings::kWorkers.max)});
  return params;
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
      count(settings::kGroupBySize, 0),
      loader_param(),
  };
}

std::vector<std::string> top_keys() { return {settings::kKeys.begin(), settings::kKeys.end()}; }

ParamSpec workers_param() { return count(settings::kWorkers, 0); }

std::vector<ParamSpec> model_params() {
  return with_arithmetic({
      {.name = "model",
       .type = ParamType::string,
       .doc = "built-in model",
       .choices = {"mlp", "lenet", "resnet18", "resnet50"}},
      integer("classes", "outputs of the model", 10, 1, 1000000),
      choice("loss", "loss function", {"cross_entropy"}),
  });
}

std::vector<ParamSpec> module_params() {
  return with_arithmetic({
      {.name = "module", .type = ParamType::path, .doc = "file that PyTorch wrote: TorchScript"},
      {.name = "inputs",
       .type = ParamType::string_list,
       .doc = "fields that the module takes, in the order of the arguments of forward()",
       .default_value = std::vector<std::string>{"image"},
       .min_items = 1,
       .max_items = 64},
      {.name = "target",
       .type = ParamType::string,
       .doc = "field that the loss compares the output with; not used by loss \"output\"",
       .default_value = "label"},
      choice("loss", "loss function; output: what the module returns is the loss",
             {"cross_entropy", "mse", "l1", "bce_with_logits", "output"}),
  });
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

std::vector<ParamSpec> wait_params() {
  return {integer("sync_every", "steps between waits for the loss, as loss.item() does; 0: never",
                  0, 0, 1000000000),
          boolean("spin",
                  "CUDA: waits for the loss and for blocking copies keep a core busy, as PyTorch's "
                  "do; false: the thread sleeps",
                  true)};
}

ParamSpec train_kind_param() {
  return {.name = "kind",
          .type = ParamType::string,
          .doc =
              "callback: a step given by the library's user; emulated: a step that only takes "
              "time, on the emulated device or CUDA",
          .choices = {"callback", "emulated"}};
}

std::vector<ParamSpec> emulate_params() {
  return {
      above_zero(number("step_ms", "milliseconds that a training step takes", 25, 0, 3600000)),
      above_zero(
          number("copy_gb_per_s", "host-to-device bandwidth in GB/s (10^9 bytes)", 12, 0, 1000000)),
      number("copy_latency_us", "microseconds that a copy takes in addition to its bytes", 10, 0,
             1000000),
      number("clock_drop",
             "share by which the clock falls when the device was busy for all of the last 100 ms",
             0, 0, 0.9),
      integer("launches", "kernel launches of a step, of equal length", 1, 1, 100000),
      number("launch_us", "microseconds of the training thread per launch", 0, 0, 1000000),
      integer("launch_queue",
              "launches that may wait to run; more of them block the training thread", 1024, 1,
              1000000),
      {.name = "jitter",
       .type = ParamType::jitter,
       .doc = "spread of the step's time around its mean"},
  };
}

std::vector<ParamSpec> storage_params() {
  constexpr double kMostMs = 60000;
  constexpr double kMostTailMs = 3600000;
  constexpr double kMostRate = 1e9;
  ParamSpec p99 = number("latency_p99_ms",
                         "its 99th percentile (lognormal; equal to latency_ms: constant); absent: "
                         "three times latency_ms",
                         0, 0, kMostTailMs);
  p99.default_value.reset();
  p99.optional = true;
  return {
      number("latency_ms", "median milliseconds from a request to its first byte", 20, 0, kMostMs),
      std::move(p99),
      number("bandwidth_mb_per_s",
             "MB/s (10^6 bytes) of the requests of all workers together; 0: no limit", 100, 0,
             kMostRate),
      number("requests_per_second", "requests beyond this rate wait; 0: no limit", 500, 0,
             kMostRate),
      number("burst", "requests that are answered at once after a pause", 100, 1, kMostRate),
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
