// The ranges that a profiler sees. CTest sets NVTX_INJECTION64_PATH to the listener.
#include <memory>

#include "support/recording_step.hpp"
#include "support/test_chain.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/shared_library.hpp"
#include "cachebisect/device/profiler_range.hpp"
#include "cachebisect/replay/pipeline_replayer.hpp"

using namespace cachebisect;

TEST_CASE("ranges nest and end, whether or not a profiler listens") {
  const ProfilerRange outer("outer");
  const ProfilerRange inner("inner");
}

#ifdef CACHEBISECT_HAS_NVTX
TEST_CASE("a profiler sees arms, steps and stages as ranges, each of which ends") {
  PipelineReplayer replayer(test::random_chain({.workers = 1}), make_cpu_device(),
                            std::make_shared<test::RecordingStep>());
  (void)replayer.run({{ArmKind::live, 0, 0, {}}, 4, 1, 0}, {});
  const SharedLibrary listener(CACHEBISECT_BINARY_DIR "/tests/nvtx_stub.so");
  REQUIRE_MESSAGE(listener.is_open(), listener.error());
  const auto saw = listener.function<int (*)(const char*)>("nvtx_stub_saw");
  CHECK(saw("live at 0") == 1);
  CHECK(saw("step") == 1);
  for (const StageDescription& stage : replayer.describe().stages) {
    if (stage.kind == StageKind::collate || stage.kind == StageKind::copy) continue;
    CAPTURE(stage.name);
    CHECK(saw(stage.name.c_str()) == 1);
  }
  CHECK(listener.function<int (*)()>("nvtx_stub_open")() == 0);
}
#endif
