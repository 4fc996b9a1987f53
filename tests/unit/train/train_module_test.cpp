#include <cstdlib>
#include <optional>
#include <string>

#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/plugins.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/train/module_path.hpp"
#include "cachebisect/train/train_step.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

/// Sets CACHEBISECT_MODULE_PATH, and restores it.
class ModulePath {
 public:
  explicit ModulePath(const std::string& value) {
    if (const char* before = std::getenv(kName)) before_ = before;
    setenv(kName, value.c_str(), 1);
  }
  ~ModulePath() {
    if (before_) {
      setenv(kName, before_->c_str(), 1);
    } else {
      unsetenv(kName);
    }
  }
  ModulePath(const ModulePath&) = delete;
  ModulePath& operator=(const ModulePath&) = delete;

 private:
  static constexpr const char* kName = "CACHEBISECT_MODULE_PATH";
  std::optional<std::string> before_;
};

std::shared_ptr<TrainStep> make(const std::string& model) {
  ModelStepRequest request;
  request.train.model = model;
  return make_model_step(request);
}

std::string refusal(const std::string& model) {
  return usage_error([&] { (void)make(model); });
}

}  // namespace

TEST_CASE(
    "the module is searched in CACHEBISECT_MODULE_PATH, then next to executable and library") {
  const auto files = torch_module_candidates("/a::/b/mine.so:", "/opt/bin", "/opt/lib");
  REQUIRE(files.size() == 5);
  CHECK(files[0] == "/a/libcachebisect_torch.so");
  CHECK(files[1] == "/b/mine.so");
  CHECK(files[2] == "/opt/bin/libcachebisect_torch.so");
  CHECK(files[3] == "/opt/lib/libcachebisect_torch.so");
  CHECK(files[4] == "/opt/lib/cachebisect/libcachebisect_torch.so");
  CHECK(torch_module_candidates("", "", "").empty());
}

TEST_CASE("a step keeps its module open") {
  const ModulePath path(test_plugin("step_module"));
  const auto step = make("toy");
  CHECK(step->name() == "toy from a module");
  const auto second = make("second");
  CHECK(second->name() == "second from a module");
}

TEST_CASE("a module's own error passes through") {
  const ModulePath path(test_plugin("step_module"));
  CHECK(refusal("unknown") == "there is no model 'unknown'");
}

TEST_CASE("a module of another build is refused before any C++ call") {
  const ModulePath path(test_plugin("step_module_other_abi"));
  const std::string message = refusal("toy");
  CHECK(has(message, "was built for [cachebisect 0.0.0 of another compiler]"));
  CHECK(has(message, "build both together"));
}

TEST_CASE("a file that is not a module is refused with the reason") {
  const TemporaryFolder folder;
  const ModulePath no_library(
      folder.write("text_not_module.so", "This is text, not a shared library.\n"));
  CHECK(has(refusal("toy"), "text_not_module.so cannot be opened: "));

  const ModulePath no_entry(std::string(CACHEBISECT_BINARY_DIR) + "/lib/libcachebisect_stages.so");
  CHECK(has(refusal("toy"), "it has no entry point cachebisect_torch_module"));
}

TEST_CASE("a missing module is an error that says where it was searched and what to do") {
  const std::string message = usage_error(
      [] { (void)find_torch_module(torch_module_candidates("", "/nowhere/bin", ""), "lenet"); });
  CHECK(has(message, "model 'lenet' needs the LibTorch module"));
  CHECK(has(message, "/nowhere/lib/cachebisect/libcachebisect_torch.so"));
  CHECK(has(message, "scripts/run without --no-torch"));
  CHECK(has(message, "CACHEBISECT_MODULE_PATH"));
  CHECK(has(message, "--device emulated"));
}
