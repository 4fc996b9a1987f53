#include "step_profiler.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "error_text.hpp"
#include <torch/csrc/autograd/profiler_kineto.h>

#include "cachebisect/base/error.hpp"

namespace cachebisect::torch_module {
namespace {

namespace fs = std::filesystem;
namespace kineto = torch::autograd::profiler;
using torch::profiler::impl::ActivityType;
using torch::profiler::impl::ProfilerConfig;
using torch::profiler::impl::ProfilerState;

/// A folder of its own: Kineto writes to a file, and to others next to it.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (fs::temp_directory_path() / "cachebisect-trace-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw Error(ErrorKind::output, "no folder can be made in " +
                                         fs::temp_directory_path().string() +
                                         ", which LibTorch's profiler needs; set TMPDIR");
    }
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] std::string file() const { return (path_ / "trace.json").string(); }

 private:
  fs::path path_;
};

class KinetoProfiler final : public StepProfiler {
 public:
  KinetoProfiler(const StepProfilerOptions& options, bool cuda)
      : config_(ProfilerState::KINETO, options.shapes, options.memory),
        activities_{ActivityType::CPU} {
    if (cuda) {
      activities_.insert(ActivityType::CUDA);
    } else {
      // Else it complains on standard error that there is no GPU.
      setenv("KINETO_LOG_LEVEL", "99", /*overwrite=*/0);
    }
  }
  ~KinetoProfiler() override {
    if (!running_) return;
    try {
      (void)kineto::disableProfiler();
    } catch (...) {  // NOLINT(bugprone-empty-catch): another error may be on its way out
    }
  }
  KinetoProfiler(const KinetoProfiler&) = delete;
  KinetoProfiler& operator=(const KinetoProfiler&) = delete;

  void prepare() override {
    in_libtorch("preparing LibTorch's profiler",
                [&] { kineto::prepareProfiler(config_, activities_); });
  }

  void start() override {
    in_libtorch("starting LibTorch's profiler",
                [&] { kineto::enableProfiler(config_, activities_); });
    running_ = true;
  }

  std::string stop() override {
    running_ = false;
    const ScratchFolder folder;
    in_libtorch("ending LibTorch's profiler",
                [&] { kineto::disableProfiler()->save(folder.file()); });
    std::ifstream file(folder.file(), std::ios::binary);
    if (!file) {
      throw Error(ErrorKind::output,
                  "LibTorch's profiler wrote no trace to " + folder.file() +
                      "; is there room in that folder? TMPDIR names another one");
    }
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  ProfilerConfig config_;
  std::set<ActivityType> activities_;
  bool running_ = false;
};

}  // namespace

std::unique_ptr<StepProfiler> make_step_profiler(const StepProfilerOptions& options, bool cuda) {
  return std::make_unique<KinetoProfiler>(options, cuda);
}

}  // namespace cachebisect::torch_module
