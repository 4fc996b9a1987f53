// copy.device: how batches go to the device.
#include "cachebisect/pipeline/plain_copy.hpp"
#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {

void register_copy_device(Registry& registry) {
  registry.add(
      {.type = "copy.device",
       .doc = "Copies batches to the device; free on cpu, where they are handed over",
       .kind = StageKind::copy,
       .params = {{.name = "pinned",
                   .type = ParamType::boolean,
                   .doc = "batches lie in page-locked memory (CUDA)",
                   .default_value = true},
                  {.name = "non_blocking",
                   .type = ParamType::boolean,
                   .doc = "the copy is enqueued and not waited for",
                   .default_value = true},
                  {.name = "prefetch",
                   .type = ParamType::integer,
                   .doc = "batches copied ahead on a stream of their own; 0: from the training "
                          "thread on the compute stream",
                   .default_value = std::int64_t{2},
                   .minimum = 0,
                   .maximum = 3}},
       .example = R"({"pinned": true, "non_blocking": true, "prefetch": 2})",
       .make = [](const Params& params) -> std::unique_ptr<Stage> {
         return std::make_unique<PlainCopy>(
             CopyOptions{.pinned = params.boolean("pinned"),
                         .non_blocking = params.boolean("non_blocking"),
                         .prefetch = static_cast<int>(params.integer("prefetch"))});
       }});
}

}  // namespace cachebisect::stages
