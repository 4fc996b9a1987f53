// collate.stack: samples of equal shape in one batch.
#include "stages/support/layout_param.hpp"

#include "cachebisect/pipeline/registry.hpp"
#include "cachebisect/pipeline/stack_collate.hpp"

namespace cachebisect::stages {

void register_collate_stack(Registry& registry) {
  registry.add({.type = "collate.stack",
                .doc = "Stacks samples of equal shape into a batch",
                .kind = StageKind::collate,
                .params = {layout_param("layout of images in the batch", "NCHW")},
                .example = R"({"layout": "NCHW"})",
                .make = [](const Params& params) -> std::unique_ptr<Stage> {
                  return std::make_unique<StackCollate>(
                      parse_batch_layout(params.string("layout")));
                }});
}

}  // namespace cachebisect::stages
