// On a CUDA device, replay at every boundary gives the training step the live batches, bit for bit.
#include <memory>

#include "support/careless_device.hpp"
#include "support/gpu_job.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using test::CarelessDevice;
using test::ChainOptions;
using test::GpuJob;

namespace {

/// The cache of the stub's small job holds all samples, whatever is in flight.
constexpr std::uint64_t kSamples = 56;
/// Long enough for loaders to fill every slot and buffer that they may.
constexpr double kDelay = 2e-3;

bool shows_wrong_batches(CarelessDevice::Without without) {
  const ChainOptions options{.samples = kSamples};
  GpuJob job(options, std::make_shared<CarelessDevice>(without));
  for (const auto& expected : test::live_on_cpu(options, 10)) {
    if (job.run({ArmKind::live, 0, 0, {}}, 20e-3) != expected) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("replay equals live and the cpu at every boundary" *
          doctest::skip(test::no_cuda_device())) {
  for (const int prefetch : {0, 1, 2, 3}) {
    for (const int workers : {0, 2}) {
      CAPTURE(prefetch);
      CAPTURE(workers);
      const ChainOptions options{
          .samples = kSamples, .workers = workers, .copy = {true, true, prefetch}};
      GpuJob job(options, make_cuda_device(0));
      test::check_every_arm(job, options);
    }
  }
}

TEST_CASE("replay equals live with pageable slots and with blocking copies" *
          doctest::skip(test::no_cuda_device())) {
  for (const CopyOptions copy :
       {CopyOptions{false, true, 2}, CopyOptions{true, false, 2}, CopyOptions{false, false, 0}}) {
    CAPTURE(copy.pinned);
    CAPTURE(copy.non_blocking);
    const ChainOptions options{.samples = kSamples, .loader = LoaderKind::batch, .copy = copy};
    GpuJob job(options, make_cuda_device(0));
    test::check_every_arm(job, options);
  }
}

TEST_CASE("no buffer is written before a late step has read it" *
          doctest::skip(test::no_cuda_device())) {
  for (const int prefetch : {0, 1, 2, 3}) {
    CAPTURE(prefetch);
    const ChainOptions options{.samples = kSamples, .copy = {true, true, prefetch}};
    GpuJob job(options, make_cuda_device(0));
    test::check_every_arm(job, options, kDelay);
  }
}

TEST_CASE("with late steps, a device that does not wait for events shows wrong batches" *
          doctest::skip(test::no_cuda_device())) {
  CHECK(shows_wrong_batches(CarelessDevice::Without::waits));
}
