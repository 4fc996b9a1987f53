// Files and inputs that a TorchScript step refuses, each with its remedy.
#include <functional>
#include <string>
#include <vector>

#include "support/script_module.hpp"
#include "support/text.hpp"
#include "support/torch_headers.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

std::string refusal_of(const TorchModule* module, const std::string& file) {
  const ClassBatch toy;
  return step_refusal(module, module_request(file, toy));
}

using Edit = std::function<std::string(const std::string& record, std::string content)>;

/// Copies an archive, with changed records and this version of the format.
void copy_archive(const std::string& from, const std::string& to, std::uint64_t version,
                  const Edit& edit) {
  caffe2::serialize::PyTorchStreamReader reader(from);
  caffe2::serialize::PyTorchStreamWriter writer(to);
  writer.setMinVersion(version);
  for (const std::string& record : reader.getAllRecords()) {
    if (record == "version" || record == "byteorder" || has(record, ".data/")) continue;
    const auto [data, size] = reader.getRecord(record);
    const std::string content =
        edit(record, std::string(static_cast<const char*>(data.get()), size));
    writer.writeRecord(record, content.data(), content.size());
  }
  writer.writeEndOfFile();
}

std::string unchanged(const std::string& /*record*/, std::string content) { return content; }

}  // namespace

TEST_CASE("a file that is no TorchScript archive is refused") {
  REQUIRE_MODULE(module);
  const TemporaryFolder folder;
  CHECK(has(refusal_of(module, folder.path("none.pt")), "none.pt is not a file; save one with"));
  CHECK(has(refusal_of(module, folder.path()), "is not a file"));
  CHECK(has(refusal_of(module, folder.write("text.pt", "not an archive")),
            "text.pt is not a TorchScript archive; save one with torch.jit.script(model).save("));
  CHECK(has(refusal_of(module, folder.write("empty.pt", "")), "is not a TorchScript archive"));
  const std::string cut = read_file(linear_module().save(folder)).substr(0, 500);
  CHECK(has(refusal_of(module, folder.write("cut.pt", cut)), "cut.pt cannot be read by LibTorch"));
}

TEST_CASE("an archive without the code of a model is refused with what to save instead") {
  REQUIRE_MODULE(module);
  const TemporaryFolder folder;
  const auto write = [&folder](const std::string& name, const std::string& record) {
    caffe2::serialize::PyTorchStreamWriter writer(folder.path(name));
    writer.writeRecord(record, "x", 1);
    writer.writeEndOfFile();
    return folder.path(name);
  };
  CHECK(has(refusal_of(module, write("state.pt", "data.pkl")), "was written by torch.save()"));
  CHECK(has(refusal_of(module, write("net.pt2", "archive_format")),
            "is a program of torch.export that is not compiled"));
}

TEST_CASE("a file of another LibTorch is refused with both versions' remedy") {
  REQUIRE_MODULE(module);
  const TemporaryFolder folder;
  const std::string good = linear_module().save(folder);
  CHECK(refusal_of(module, good).empty());
  copy_archive(good, folder.path("same.pt"), 0, unchanged);
  CHECK(refusal_of(module, folder.path("same.pt")).empty());
  copy_archive(good, folder.path("newer.pt"), 99, unchanged);
  const std::string newer = refusal_of(module, folder.path("newer.pt"));
  CHECK(has(newer, "newer.pt cannot be read by LibTorch 2."));
  CHECK(has(newer, "99"));
  CHECK(has(newer, "CACHEBISECT_TORCH_DIR"));
  copy_archive(good, folder.path("operator.pt"), 0, [](const auto& record, std::string content) {
    const std::size_t at = content.find("torch.matmul");
    if (has(record, ".py") && at != std::string::npos) content.replace(at, 12, "torch.newmul");
    return content;
  });
  const std::string unknown = refusal_of(module, folder.path("operator.pt"));
  CHECK(has(unknown, "newmul"));
  CHECK(has(unknown, "CACHEBISECT_TORCH_DIR"));
}

TEST_CASE("a module that cannot be trained is refused") {
  REQUIRE_MODULE(module);
  const TemporaryFolder folder;
  CHECK(has(refusal_of(module, linear_module(false).save(folder)),
            "has no parameters that can be trained"));
  const std::string in_double = ScriptSource("def forward(self, x):\n    return x * self.scale\n")
                                    .parameter("scale", at::ones({5}, at::kDouble))
                                    .save(folder);
  CHECK(has(refusal_of(module, in_double), "has parameters of dtype Double"));
  CHECK(has(refusal_of(module, ScriptSource("def encode(self, x):\n    return x + self.weight\n")
                                   .parameter("weight", weights({5}))
                                   .save(folder)),
            "has no forward()"));
}

TEST_CASE("inputs that a module does not take are refused with both and the remedy") {
  REQUIRE_MODULE(module);
  const TemporaryFolder folder;
  const std::string file = linear_module().save(folder);
  const ClassBatch toy;
  const auto good = module_request(file, toy);
  CHECK(step_refusal(module, good).empty());

  auto size = good;
  size.input[0].shape = {12, 3, 8, 8};
  const std::string shapes = step_refusal(module, size);
  CHECK(has(shapes, "net.pt does not take what the chain gives, image float32 [12, 3, 8, 8]"));
  CHECK(has(shapes, "12x192 and 48x5"));
  CHECK(has(shapes, "resize, crop"));
  auto bytes = good;
  bytes.input[0].dtype = DType::uint8;
  CHECK(has(step_refusal(module, bytes), "augment.to_float"));
  auto target = good;
  target.train.loss = "mse";
  CHECK(has(step_refusal(module, target), "needs a target of the output's shape [12, 5]"));
  auto scalar = good;
  scalar.train.loss = "output";
  CHECK(has(step_refusal(module, scalar), "needs one number from forward()"));
  auto field = good;
  field.train.inputs = {"tokens"};
  CHECK(has(step_refusal(module, field), "module net.pt needs it; the chain gives image, label"));
  auto count = good;
  count.train.inputs = {"image", "label"};
  CHECK(has(step_refusal(module, count), "has forward(image), and train.inputs names 2"));
  auto loss = good;
  loss.train.loss = "hinge";
  CHECK(has(step_refusal(module, loss), "bce_with_logits"));
}

TEST_CASE("a module that refuses its input without a message is refused too") {
  REQUIRE_MODULE(module);
  const TemporaryFolder folder;
  const std::string file = ScriptSource(R"(
def forward(self, image):
    assert image.size(1) == 4
    return torch.matmul(image.flatten(1), self.weight)
)")
                               .parameter("weight", weights({48, 5}))
                               .save(folder);
  CHECK(has(refusal_of(module, file), "an assertion or exception of the model"));
}

TEST_CASE("the trial of a batch leaves buffers as they were, and dynamic shapes are not tried") {
  REQUIRE_MODULE(module);
  const TemporaryFolder folder;
  const std::string file = ScriptSource(R"(
def forward(self, image):
    self.seen.add_(1)
    return torch.matmul(image.flatten(1), self.weight) * self.seen
)")
                               .parameter("weight", weights({48, 5}))
                               .buffer("seen", at::zeros({1}))
                               .save(folder);
  const TensorBatch toy({{"image", at::ones({4, 3, 4, 4})}, {"label", at::zeros({4}, at::kLong)}});
  const auto tried = make_step(module, module_request(file, toy));
  auto request = module_request(file, toy);
  request.input[0].shape = {kDynamic, 3, kDynamic, kDynamic};
  const auto untried = make_step(module, request);
  CHECK(losses(*tried, toy, 1) == losses(*untried, toy, 1));
}

TEST_CASE("an error inside the module gives the reason in one line") {
  REQUIRE_MODULE(module);
  const TemporaryFolder folder;
  const std::string file = linear_module().save(folder);
  TensorBatch toy({{"image", at::zeros({4, 3, 4, 4})}, {"label", at::full({4}, 5, at::kLong)}});
  const auto step = make_step(module, module_request(file, toy));
  const std::string message =
      error_message([&] { step->step(toy.batch, {.index = 7}); }, ErrorKind::data);
  CHECK(has(message, "failed at step 7: Target 5 is out of bounds"));
  CHECK_FALSE(has(message, "\n"));
}

TEST_CASE("failures of CUDA and a lack of memory are told apart from bad data") {
  REQUIRE_MODULE(module);
  const TemporaryFolder folder;
  const std::string file = ScriptSource(R"(
def forward(self, image):
    case = int(image.flatten()[0])
    assert case != 1, "CUDA error: device-side assert triggered"
    if case == 2:
        image = torch.zeros([1 << 50])
    assert case != 3, "CUDA out of memory. Tried to allocate 2.00 GiB. If reserved but unallocated memory is large try this"
    return torch.matmul(image.flatten(1), self.weight)
)")
                               .parameter("weight", weights({48, 5}))
                               .save(folder);
  const auto message = [&](int number, ErrorKind kind) {
    const TensorBatch toy(
        {{"image", at::full({4, 3, 4, 4}, static_cast<float>(number), at::kFloat)},
         {"label", at::zeros({4}, at::kLong)}});
    const auto step = make_step(module, module_request(file, toy));
    return error_message([&] { step->step(toy.batch, {.index = 7}); }, kind);
  };
  CHECK(has(message(1, ErrorKind::device),
            "device-side assert triggered; run again with CUDA_LAUNCH_BLOCKING=1"));
  CHECK(has(message(2, ErrorKind::device), "allocate memory"));
  CHECK(message(3, ErrorKind::device) ==
        "failed at step 7: CUDA out of memory. Tried to allocate 2.00 GiB.");
  const TensorBatch toy(
      {{"image", at::full({4, 3, 4, 4}, 2.0, at::kFloat)}, {"label", at::zeros({4}, at::kLong)}});
  const auto step = make_step(module, module_request(file, toy));
  CHECK_THROWS_AS(step->step(toy.batch, {.index = 7}), OutOfMemory);
}
