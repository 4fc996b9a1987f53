// The C++ part of scripts/gpu-check: prints figures of a device, one JSON object per line.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "bench/gpu/kernels.hpp"
#include "bench/gpu/submission.hpp"

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"

namespace {

using namespace cachebisect;

constexpr double kWork = 1e-3;  ///< seconds
constexpr int kTurns = 200;

std::unique_ptr<Device> device_named(const std::string& name) {
  if (name == "cuda") return make_cuda_device(0);
  if (name == "cpu") return make_cpu_device();
  if (name == "emulated") return make_emulated_device({});
  throw Error(ErrorKind::usage, "device " + name + ": expected cuda, cpu or emulated");
}

/// What the kernels take and what queueing costs.
void print_speed(Device& device) {
  const bool is_cuda = device.kind() == DeviceKind::cuda;
  for (const bench::KernelFigure& figure :
       bench::kernel_figures(device, is_cuda ? 256 : 4, is_cuda ? 50 : 3)) {
    std::printf(R"({"kernel": "%s", "microseconds": %.3f, "gb_per_s": %.1f})"
                "\n",
                figure.name.c_str(), figure.microseconds, figure.gb_per_s);
  }
  const bench::SubmissionFigures costs = bench::submission_figures(device);
  std::printf(R"({"record_us": %.3f, "launch_us": %.3f, "kernel_us": %.3f})"
              "\n",
              costs.record_microseconds, costs.launch_microseconds, costs.kernel_microseconds);
}

/// Inline seconds of work of a known length, at once and after `pause` seconds.
void print_inline(Device& device, double pause) {
  for (const double after : {0.0, pause}) {
    if (after > 0) sleep_until(monotonic_seconds() + after);
    std::printf(R"({"after_seconds": %.0f, "work_us": %.1f, "inline_us": %.3f})"
                "\n",
                after, 1e6 * kWork, 1e6 * bench::inline_seconds(device, kWork, kTurns));
    std::fflush(stdout);
  }
}

int run(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "speed") == 0) {
    print_speed(*device_named(argv[2]));
    return 0;
  }
  if (argc == 4 && std::strcmp(argv[1], "inline") == 0) {
    print_inline(*device_named(argv[2]), std::atof(argv[3]));
    return 0;
  }
  throw Error(ErrorKind::usage,
              "expected: gpu_figures speed DEVICE, or gpu_figures inline DEVICE PAUSE_SECONDS");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const Error& error) {
    std::fprintf(stderr, "gpu_figures: %s\n", error.what());
    return exit_code(error.kind());
  }
}
