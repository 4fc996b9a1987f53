// A plugin with one stage and one training step.
#include "cachebisect/pipeline/plugin.hpp"

static void register_good(cachebisect::Registry& registry) {
  registry.add(cachebisect::StageType{
      .type = "test.good",
      .doc = "a stage of a plugin",
      .params =
          {{.name = "level", .doc = "a level", .default_value = 0.5, .minimum = 0, .maximum = 1}},
      .example = R"({"level": 0.25})",
      .make = [](const cachebisect::Params&) { return nullptr; }});
  registry.add(
      cachebisect::TrainStepType{.type = "test.step",
                                 .doc = "a step of a plugin",
                                 .params = {},
                                 .make = [](const cachebisect::Params&) { return nullptr; }});
}

CACHEBISECT_PLUGIN(register_good)
