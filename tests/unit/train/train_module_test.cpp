#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <doctest/doctest.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/train/module_path.hpp"
#include "cachebisect/train/train_step.hpp"

using namespace cachebisect;

namespace {

/// The stand-ins of tests/plugins.
std::string plugin(const std::string& name) {
  return std::string(CACHEBISECT_BINARY_DIR) + "/tests/plugins/lib" + name + ".so";
}

/// Sets CACHEBISECT_MODULE_PATH, and puts it back.
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
  try {
    (void)make(model);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    return error.what();
  }
  FAIL("should have thrown");
  return {};
}

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the module is sought in CACHEBISECT_MODULE_PATH, then beside executable and library") {
  const auto files = torch_module_candidates("/a::/b/mine.so:", "/opt/bin", "/opt/lib");
  REQUIRE(files.size() == 5);
  CHECK(files[0] == "/a/libcachebisect_torch.so");
  CHECK(files[1] == "/b/mine.so");
  CHECK(files[2] == "/opt/bin/libcachebisect_torch.so");
  CHECK(files[3] == "/opt/lib/libcachebisect_torch.so");
  CHECK(files[4] == "/opt/lib/cachebisect/libcachebisect_torch.so");
  CHECK(torch_module_candidates("", "", "").empty());
}

TEST_CASE("a step from a module lives and dies with it") {
  const ModulePath path(plugin("step_module"));
  const auto step = make("toy");
  CHECK(step->name() == "toy from a module");
  const auto second = make("second");
  CHECK(second->name() == "second from a module");
}

TEST_CASE("a module's own error passes through") {
  const ModulePath path(plugin("step_module"));
  CHECK(refusal("unknown") == "there is no model 'unknown'");
}

TEST_CASE("a module of another build is refused before any C++ call") {
  const ModulePath path(plugin("step_module_other_abi"));
  const std::string message = refusal("toy");
  CHECK(has(message, "was built for [cachebisect 0.0.0 of another compiler]"));
  CHECK(has(message, "build both together"));
}

TEST_CASE("a file that is no module is refused with the reason") {
  const std::string file = std::string(CACHEBISECT_BINARY_DIR) + "/tests/text_not_module.so";
  std::ofstream(file) << "This is text, not a shared library.\n";
  const ModulePath no_library(file);
  CHECK(has(refusal("toy"), "text_not_module.so cannot be opened: "));
  std::filesystem::remove(file);

  const ModulePath no_entry(std::string(CACHEBISECT_BINARY_DIR) + "/lib/libcachebisect_stages.so");
  CHECK(has(refusal("toy"), "it has no entry point cachebisect_torch_module"));
}

TEST_CASE("a module that is nowhere: where it was sought, and what to do") {
  try {
    (void)find_torch_module(torch_module_candidates("", "/nowhere/bin", ""), "lenet");
    FAIL("should have thrown");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    const std::string message = error.what();
    CHECK(has(message, "model 'lenet' needs the LibTorch module"));
    CHECK(has(message, "/nowhere/lib/cachebisect/libcachebisect_torch.so"));
    CHECK(has(message, "scripts/run without --no-torch"));
    CHECK(has(message, "CACHEBISECT_MODULE_PATH"));
    CHECK(has(message, "--device emulated"));
  }
}
