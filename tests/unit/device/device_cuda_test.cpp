// Behaviour on a machine without a CUDA device, or in a build without CUDA.
#include <string>

#include "support/errors.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/device/device.hpp"

using namespace cachebisect;

TEST_CASE("without a CUDA device the error says what was found and what to do") {
  if (cuda_device_count() > 0) {
    CHECK(built_with_cuda());
    return;
  }
  const std::string message =
      test::error_message([] { (void)make_cuda_device(0); }, ErrorKind::device);
  INFO(message);
  CHECK(test::has(message, built_with_cuda() ? "NVIDIA driver" : "this build has no CUDA"));
  CHECK(test::has(message, "--device cpu or --device emulated"));
  CHECK(cuda_device_count() == 0);  // also when called again
}

TEST_CASE("kinds of devices have the names that users type") {
  CHECK(to_string(DeviceKind::cpu) == "cpu");
  CHECK(to_string(DeviceKind::cuda) == "cuda");
  CHECK(to_string(DeviceKind::emulated) == "emulated");
}
