// Settings of a TorchScript step that change what it costs.
#include <string>

#include "support/script_module.hpp"
#include "support/text.hpp"
#include "support/torch_headers.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

TEST_CASE("images of both layouts reach the module in channels_last order, NHWC without a copy") {
  REQUIRE_MODULE(module);
  const TemporaryFolder folder;
  // Writes its input, which the batch shows if it was not copied.
  const std::string file = ScriptSource(R"(
def forward(self, image):
    assert image.is_contiguous(memory_format=2)  # channels_last
    assert image.size(1) == 3
    if self.training:
        image.detach().zero_()
    return torch.conv2d(image, self.weight).flatten(1)
)")
                               .parameter("weight", weights({5, 3, 4, 4}))
                               .save(folder);
  for (const std::string layout : {"NCHW", "NHWC"}) {
    CAPTURE(layout);
    const at::Tensor pixels =
        layout == "NCHW" ? wavy_images() : wavy_images().permute({0, 2, 3, 1}).contiguous();
    const TensorBatch toy({{"image", pixels}, {"label", five_labels()}});
    auto request = module_request(file, toy);
    request.train.memory_format = "channels_last";
    const auto step = make_step(module, request);
    losses(*step, toy, 1);
    const bool written = pixels.abs().sum().item().toDouble() == 0;
    CHECK(written == (layout == "NHWC"));
    CHECK(has(step->description(), "channels_last (each batch copied from NCHW)") ==
          (layout == "NCHW"));
  }
}

TEST_CASE("settings of cuDNN and TF32 last from the first step until they are given back") {
  REQUIRE_MODULE(module);
  const TemporaryFolder folder;
  const ClassBatch toy;
  auto request = module_request(linear_module().save(folder), toy);
  request.train.cudnn_benchmark = true;
  request.train.tf32 = true;
  at::Context& context = at::globalContext();
  const auto step = make_step(module, request);
  CHECK_FALSE(context.benchmarkCuDNN());
  CHECK_FALSE(context.allowTF32CuBLAS());
  losses(*step, toy, 2);
  CHECK(context.benchmarkCuDNN());
  CHECK(context.allowTF32CuBLAS());
  CHECK(context.allowTF32CuDNN());
  step->restore_process();
  CHECK_FALSE(context.benchmarkCuDNN());
  CHECK_FALSE(context.allowTF32CuBLAS());
  request.train.tf32 = false;
  losses(*make_step(module, request), toy, 1);
  CHECK(context.allowTF32CuDNN());
}

TEST_CASE("the description names everything that changes what a step costs") {
  REQUIRE_MODULE(module);
  const TemporaryFolder folder;
  const ClassBatch toy;
  auto request = module_request(linear_module().save(folder, "my-net.pt"), toy);
  CHECK(make_step(module, request)->description() ==
        "my-net.pt (TorchScript), cross_entropy, sgd, fp32");
  request.train.precision = "fp16-mixed";
  request.train.accumulate = 4;
  request.train.cudnn_benchmark = true;
  request.train.tf32 = false;
  CHECK(make_step(module, request)->description() ==
        "my-net.pt (TorchScript), cross_entropy, sgd, fp16-mixed, accumulate 4, cudnn_benchmark, "
        "no tf32");
}

TEST_CASE("a CUDA graph is refused on the cpu") {
  REQUIRE_MODULE(module);
  const TemporaryFolder folder;
  const ClassBatch toy;
  auto request = module_request(linear_module().save(folder), toy);
  request.train.cuda_graph = true;
  CHECK(step_refusal(module, request) ==
        "train.cuda_graph: the step runs on cpu; remove it, or choose --device cuda");
}
