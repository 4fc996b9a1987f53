// Errors of a CUDA device end the command once, with exit code 4 and what to do.
#include <string>
#include <vector>

#include "cli/starved_run.hpp"
#include "support/command.hpp"
#include "support/gpu_job.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++found;
  }
  return found;
}

std::string pipeline(const std::string& device_stages = "") {
  return R"({"batch_size": 16, "workers": 1, "stages": [
               {"use": "synthetic.read", "bytes": 64, "samples": 100000},
               {"use": "synthetic.wait", "us": 50},
               {"use": "collate.stack"}, {"use": "copy.device"})" +
         device_stages +
         R"(], "train": {"kind": "emulated"}, "device": "cuda", "emulate": {"step_ms": 1}})";
}

}  // namespace

TEST_CASE("an illegal access ends the run once, with exit code 4 and a partial report" *
          doctest::skip(no_cuda_device())) {
  const TemporaryFolder folder;
  const std::string stage =
      R"(, {"use": "test.wild_read", "once_exists": ")" + folder.path("now") + R"("})";
  const std::string file = folder.write("p.json", pipeline(stage));
  auto words = undecided_run(file, folder.path("report.json"), "600", "0.1%");
  words.insert(words.end(), {"--plugin", CACHEBISECT_BINARY_DIR "/tests/plugins/libwild_read.so"});
  const CommandResult result = run_tool(words, "", [&](pid_t, const std::string& log) {
    await_second_super_round(log);
    folder.write("now", "");
  });
  CAPTURE(result.err);
  CHECK(result.exit_code == 4);
  CHECK(count(result.err, "cudaErrorIllegalAddress") == 1);
  CHECK(has(result.err, "CUDA_LAUNCH_BLOCKING=1"));
  CHECK_FALSE(has(result.err, "terminate"));
  CHECK(nlohmann::json::accept(read_file(folder.path("report.json"))));
}

TEST_CASE("a device that is not there, or is hidden, is refused with exit code 4" *
          doctest::skip(no_cuda_device())) {
  const TemporaryFolder folder;
  const std::string file = folder.write("p.json", pipeline());
  const CommandResult missing =
      run_tool({"bisect", "--pipeline", file, "--device", "cuda:999", "--no-progress"});
  CHECK(missing.exit_code == 4);
  CHECK(has(missing.err, "there is no device cuda:999"));

  const CommandResult hidden =
      run({"env", "CUDA_VISIBLE_DEVICES=", CACHEBISECT_BINARY_DIR "/bin/cachebisect", "--pipeline",
           file, "--no-progress"});
  CHECK(hidden.exit_code == 4);
  CHECK(has(hidden.err, "CUDA"));
}

TEST_CASE("memory that the device does not have is refused, and the device stays usable" *
          doctest::skip(no_cuda_device())) {
  const std::shared_ptr<Device> cuda = make_cuda_device(0);
  const std::size_t all = *cuda->info().memory_bytes;
  std::string message;
  try {
    Buffer(cuda->device_memory()).reserve(2 * all);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::device);
    message = error.what();
  }
  CHECK(has(message, std::to_string(2 * all) + " bytes"));
  CHECK(has(message, "lower batch_size"));

  const ChainOptions options{.samples = 56};
  GpuJob job(options, cuda);
  check_every_arm(job, options);
}
