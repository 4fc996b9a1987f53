// copy.device: how batches go to the device.
#include "cachebisect/pipeline/plain_copy.hpp"
#include "cachebisect/pipeline/registry.hpp"
#include "cachebisect/protocol/settings.hpp"

namespace cachebisect::stages {

void register_copy_device(Registry& registry) {
  registry.add(
      {.type = "copy.device",
       .doc = "Copies batches to the device; free on cpu, where they are passed by pointer",
       .kind = StageKind::copy,
       .params = {{.name = "pinned",
                   .type = ParamType::boolean,
                   .doc = "keep batches in page-locked memory (CUDA)",
                   .default_value = true},
                  {.name = "non_blocking",
                   .type = ParamType::boolean,
                   .doc = "enqueue the copy and do not wait for it",
                   .default_value = true},
                  {.name = "prefetch",
                   .type = ParamType::integer,
                   .doc = std::string(settings::kCopyPrefetch.doc),
                   .default_value = std::int64_t{2},
                   .minimum = static_cast<double>(settings::kCopyPrefetch.min),
                   .maximum = static_cast<double>(settings::kCopyPrefetch.max)}},
       .example = R"({"pinned": true, "non_blocking": true, "prefetch": 2})",
       .make = [](const Params& params) -> std::unique_ptr<Stage> {
         return std::make_unique<PlainCopy>(
             CopyOptions{.pinned = params.boolean("pinned"),
                         .non_blocking = params.boolean("non_blocking"),
                         .prefetch = static_cast<int>(params.integer("prefetch"))});
       }});
}

}  // namespace cachebisect::stages
