// Page-locked memory: on the memory node of the device, whichever thread allocates it, and before
// batches need it.
#include <memory>
#include <optional>
#include <thread>

#include "cuda_stub/machine.hpp"
#include "support/cuda_job.hpp"
#include <doctest/doctest.h>

#include "cachebisect/device/cuda/cuda_memory.hpp"
#include "cachebisect/executor/executor.hpp"

using namespace cachebisect;
using cuda_stub::Machine;

namespace {

/// Halves the bytes of the image.
class HalvedBatch final : public BatchStage {
 public:
  [[nodiscard]] BatchSpec infer(const BatchSpec& input) override {
    BatchSpec output = input;
    output[0].dtype = DType::uint8;
    return output;
  }
  void process(const HostBatch& input, OwnedHostBatch& out,
               const SampleContext& /*context*/) const override {
    const TensorView& from = input.fields[0].tensor;
    const TensorView to = out.resize_field(0, "image", DType::uint8, from.shape);
    for (std::int64_t i = 0; i < from.shape.elements(); ++i) to.data[i] = from.data[2 * i];
  }
};

}  // namespace

TEST_CASE("page-locked memory lies on the device's memory node, whichever thread allocates") {
  Machine machine;
  const auto near = cuda::make_pinned_memory(0, 0);
  const auto anywhere = cuda::make_pinned_memory(0, std::nullopt);
  const auto node_of = [&](MemoryResource& memory) {
    std::optional<int> node;
    std::thread([&] {
      memory.deallocate(memory.allocate(64), 64);
      node = machine.pinned_node();
    }).join();
    return node;
  };
  if (node_of(*near) != 0) {
    MESSAGE("skipped: this kernel lets no thread choose a memory node");
    return;
  }
  CHECK(node_of(*anywhere) == std::nullopt);
  // The choice ends with the allocation.
  near->deallocate(near->allocate(64), 64);
  anywhere->deallocate(anywhere->allocate(64), 64);
  CHECK(machine.pinned_node() == std::nullopt);
}

TEST_CASE("slots have their page-locked memory, batch stages included, before the first batch") {
  Machine machine;
  const auto device = make_cuda_device(0);
  const Pipeline pipeline =
      PipelineBuilder()
          .source(
              "read", 64,
              [](SampleIndex, Sample& out) { out.field("image").resize_as<std::uint16_t>({8}); })
          .collate()
          .stage("halve", {"custom.halve", {}, std::make_shared<HalvedBatch>()})
          .copy()
          .batch_size(4)
          .workers(2)
          .build();
  Executor loader(pipeline, *device, {.workers = 2, .prefetch = 2, .pinned = true});
  const int allocated = machine.calls("cudaHostAlloc");
  CHECK(allocated == 2 * loader.slots());
  loader.start({});
  for (int i = 0; i < 2 * loader.slots(); ++i) loader.release(loader.next({}), nullptr);
  loader.halt();
  CHECK(machine.calls("cudaHostAlloc") == allocated);
}
