// read.cifar100: the binary version of CIFAR-100, with the fine labels.
#include "stages/datasets/cifar_source.hpp"
#include "stages/datasets/generate_cifar.hpp"

namespace cachebisect::stages {

void register_read_cifar100(Registry& registry) {
  registry.add(cifar_type("cifar100", {.set = "CIFAR-100",
                                       .generated_kind = "cifar-100-like",
                                       .subfolder = "cifar-100-binary",
                                       .train_files = {"train.bin"},
                                       .test_file = "test.bin",
                                       .label_bytes = 2,
                                       .classes = 100,
                                       .generate = generate_cifar100}));
}

}  // namespace cachebisect::stages
