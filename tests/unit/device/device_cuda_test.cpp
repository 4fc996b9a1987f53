// What a machine without a CUDA device, or a build without CUDA, answers.
#include <string>

#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/device/device.hpp"

using namespace cachebisect;

TEST_CASE("without a CUDA device the refusal says what was found and what to do") {
  if (cuda_device_count() > 0) {
    CHECK(built_with_cuda());
    return;
  }
  try {
    (void)make_cuda_device(0);
    FAIL("should have thrown");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::device);
    const std::string message = error.what();
    INFO(message);
    const std::string found = built_with_cuda() ? "NVIDIA driver" : "this build has no CUDA";
    CHECK(message.find(found) != std::string::npos);
    CHECK(message.find("--device cpu or --device emulated") != std::string::npos);
  }
  CHECK(cuda_device_count() == 0);  // asking again does no harm
}

TEST_CASE("kinds of devices have the names that users type") {
  CHECK(to_string(DeviceKind::cpu) == "cpu");
  CHECK(to_string(DeviceKind::cuda) == "cuda");
  CHECK(to_string(DeviceKind::emulated) == "emulated");
}
