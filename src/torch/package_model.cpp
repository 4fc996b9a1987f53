#include "package_model.hpp"

#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <utility>

#include "module_folder.hpp"
#include "saved_file.hpp"
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/shared_library.hpp"

namespace cachebisect::torch_module {
namespace {

constexpr const char* kModelName = "model";  // the name that PyTorch gives to the only model
constexpr const char* kCheckInputs = "AOTI_RUNTIME_CHECK_INPUTS";

/// Compiled code reads this variable once, at its first run: it then checks the inputs of every
/// run, which it trusts otherwise. No other thread may read the environment in the meantime.
class InputChecks {
 public:
  InputChecks() {
    if (const char* value = std::getenv(kCheckInputs)) before_ = value;
    setenv(kCheckInputs, "1", 1);
  }
  ~InputChecks() {
    if (before_) {
      setenv(kCheckInputs, before_->c_str(), 1);
    } else {
      unsetenv(kCheckInputs);
    }
  }
  InputChecks(const InputChecks&) = delete;
  InputChecks& operator=(const InputChecks&) = delete;

 private:
  std::optional<std::string> before_;
};

/// A package is linked to libtorch.so, of which ours has the name and nothing else. It stays open
/// until the process ends, because the package keeps pointers to it.
void open_libtorch(const std::string& file) {
  const SharedLibrary library(module_folder() / "torch_package" / "libtorch.so",
                              SharedLibrary::Unload::never);
  if (!library.is_open()) refuse_file(file, "cannot be loaded: " + library.error());
}

void check_device(const std::string& file, const c10::Device& device) {
  const auto metadata =
      torch::inductor::AOTIModelPackageLoader::load_metadata_from_package(file, kModelName);
  const auto compiled = metadata.find("AOTI_DEVICE_KEY");
  const std::string wanted = c10::DeviceTypeName(device.type(), /*lower_case=*/true);
  if (compiled == metadata.end() || compiled->second == wanted) return;
  refuse_file(file, "was compiled for " + compiled->second + ", and the step runs on " + wanted +
                        "; export the model on that device, or choose --device " +
                        compiled->second);
}

}  // namespace

class PackageModel::Impl {
 public:
  Impl(const std::string& file, c10::DeviceIndex device)
      : loader(file, kModelName, /*run_single_threaded=*/false, /*num_runners=*/1, device) {}

  torch::inductor::AOTIModelPackageLoader loader;
};

PackageModel::PackageModel(std::string file) : file_(std::move(file)) {}

PackageModel::~PackageModel() = default;

void PackageModel::to(const c10::Device& device) {
  try {
    check_device(file_, device);
    open_libtorch(file_);
    impl_ = std::make_unique<Impl>(file_, device.is_cuda() ? device.index() : -1);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    refuse_file(file_, other_version(error));
  }
}

at::Tensor PackageModel::forward(const std::vector<at::Tensor>& inputs) {
  std::optional<InputChecks> first_run;
  if (!checked_) first_run.emplace();
  checked_ = true;
  const std::vector<at::Tensor> outputs = impl_->loader.run(inputs);
  if (outputs.empty()) throw std::runtime_error("the package returns no tensor");
  return outputs.front();
}

}  // namespace cachebisect::torch_module
