// read.cifar10: the binary version of CIFAR-10 (https://www.cs.toronto.edu/~kriz/cifar.html).
#include "stages/datasets/cifar_source.hpp"
#include "stages/datasets/generate_cifar.hpp"

namespace cachebisect::stages {

void register_read_cifar10(Registry& registry) {
  registry.add(cifar_type(
      "cifar10", {.set = "CIFAR-10",
                  .generated_kind = "cifar-10-like",
                  .subfolder = "cifar-10-batches-bin",
                  .train_files = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                  "data_batch_4.bin", "data_batch_5.bin"},
                  .test_file = "test_batch.bin",
                  .label_bytes = 1,
                  .classes = 10,
                  .generate = generate_cifar10}));
}

}  // namespace cachebisect::stages
