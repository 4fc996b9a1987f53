// A registry of stage types that declare every kind of parameter and make nothing.
#pragma once

#include <string>
#include <utility>

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::test {

inline Registry fake_registry() {
  Registry registry;
  registry.add(
      StageType{.type = "read.fake",
                .doc = "a source",
                .kind = StageKind::source,
                .params = {{.name = "path", .type = ParamType::path, .doc = "where the data is"},
                           {.name = "split",
                            .type = ParamType::string,
                            .doc = "which part",
                            .default_value = "train",
                            .choices = {"train", "test"}},
                           {.name = "cache",
                            .type = ParamType::path,
                            .doc = "where to keep things",
                            .default_value = "${cache}/fake"}},
                .example = R"({"path": "data"})"});
  registry.add(StageType{.type = "decode.fake", .doc = "a decoder", .example = "{}"});
  registry.add(StageType{.type = "augment.random_crop",
                         .doc = "cuts a random window",
                         .traits = {.random = true},
                         .params = {{.name = "size",
                                     .type = ParamType::integer,
                                     .doc = "edge of the window in pixels",
                                     .minimum = 1,
                                     .maximum = 16384},
                                    {.name = "padding",
                                     .type = ParamType::integer,
                                     .doc = "pixels added on each side",
                                     .default_value = std::int64_t{0},
                                     .minimum = 0,
                                     .maximum = 1024},
                                    {.name = "fill",
                                     .type = ParamType::number,
                                     .doc = "value of the padding",
                                     .optional = true,
                                     .minimum = 0,
                                     .maximum = 1}},
                         .example = R"({"size": 32, "padding": 4})"});
  registry.add(StageType{.type = "augment.normalize",
                         .doc = "subtracts a mean, divides by a deviation",
                         .params = {{.name = "mean",
                                     .type = ParamType::number_list,
                                     .doc = "one per channel",
                                     .min_items = 1,
                                     .max_items = 4},
                                    {.name = "std",
                                     .type = ParamType::number_list,
                                     .doc = "one per channel",
                                     .minimum = 0,
                                     .exclusive_minimum = true,
                                     .min_items = 1,
                                     .max_items = 4},
                                    {.name = "inplace",
                                     .type = ParamType::boolean,
                                     .doc = "a switch",
                                     .default_value = false}},
                         .example = R"({"mean": [0.5], "std": [0.25]})"});
  registry.add(StageType{
      .type = "synthetic.wait",
      .doc = "sleeps",
      .params = {{.name = "us",
                  .type = ParamType::number,
                  .doc = "mean microseconds per sample",
                  .minimum = 0,
                  .maximum = 1e7},
                 {.name = "jitter", .type = ParamType::jitter, .doc = "spread around the mean"}},
      .example = R"({"us": 10, "jitter": {"kind": "pareto", "cv": 0.5}})"});
  registry.add(StageType{.type = "collate.fake",
                         .doc = "makes batches",
                         .kind = StageKind::collate,
                         .params = {{.name = "layout",
                                     .type = ParamType::string,
                                     .doc = "order of the dimensions",
                                     .default_value = "NHWC",
                                     .choices = {"NHWC", "NCHW"}}},
                         .example = "{}"});
  registry.add(
      StageType{.type = "copy.fake", .doc = "copies", .kind = StageKind::copy, .example = "{}"});
  registry.add(StageType{.type = "device.fake",
                         .doc = "works on the device",
                         .kind = StageKind::device,
                         .example = "{}"});
  registry.add(TrainStepType{.type = "my.step",
                             .doc = "a step of a plugin",
                             .params = {{.name = "rate",
                                         .type = ParamType::number,
                                         .doc = "a rate",
                                         .default_value = 0.5,
                                         .minimum = 0,
                                         .maximum = 1}},
                             .make = {}});
  return registry;
}

/// A pipeline file that uses most of the format.
inline const char* const kFakePipeline = R"({
  // a comment
  "name": "fake", "seed": 7, "batch_size": 64, "workers": 2, "prefetch": 3,
  "shuffle": false, "drop_last": true,
  "stages": [
    {"use": "read.fake", "path": "data", "split": "test", "on_error": "skip"},
    {"use": "decode.fake"},
    {"use": "augment.random_crop", "name": "crop", "size": 32, "padding": 4, "fill": 0.5},
    {"use": "augment.random_crop", "size": 28}, /* again */
    {"use": "augment.normalize", "mean": [0.5, 0.25], "std": [1, 2], "fields": ["image", "depth"]},
    {"use": "synthetic.wait", "us": 10, "jitter": {"kind": "lognormal", "cv": 0.05}},
    {"use": "collate.fake", "layout": "NCHW"},
    {"use": "copy.fake"},
    {"use": "device.fake"}
  ],
  "train": {"model": "lenet", "classes": 10, "loss": "cross_entropy",
            "optimizer": {"kind": "sgd", "lr": 0.001, "momentum": 0.9}, "precision": "fp32", "sync_every": 1},
  "device": "auto",
  "emulate": {"step_ms": 25, "copy_gb_per_s": 12, "copy_latency_us": 10, "jitter": {"kind": "pareto", "cv": 0.1}}
})";

}  // namespace cachebisect::test
