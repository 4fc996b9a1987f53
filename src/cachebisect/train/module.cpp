// Opens the LibTorch module when a pipeline trains one of its models.
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include <dlfcn.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/shared_library.hpp"
#include "cachebisect/pipeline/registry.hpp"
#include "cachebisect/train/module_path.hpp"
#include "cachebisect/train/train_step.hpp"

namespace cachebisect {
namespace {

namespace fs = std::filesystem;

/// The folder of the core library.
fs::path core_folder() {
  Dl_info info{};
  const auto* here = reinterpret_cast<const void*>(&torch_module_candidates);
  if (dladdr(here, &info) == 0 || info.dli_fname == nullptr) return {};
  return fs::path(info.dli_fname).parent_path();
}

fs::path find_module(const std::string& model) {
  std::error_code ignored;
  const fs::path executable = fs::read_symlink("/proc/self/exe", ignored);
  const char* module_path = std::getenv("CACHEBISECT_MODULE_PATH");
  return find_torch_module(torch_module_candidates(module_path == nullptr ? "" : module_path,
                                                   executable.parent_path(), core_folder()),
                           model);
}

/// The module stays in memory once opened, because LibTorch cannot be unloaded.
std::shared_ptr<const SharedLibrary> open_library(const fs::path& file) {
  auto library = std::make_shared<const SharedLibrary>(file, SharedLibrary::Unload::never);
  if (!library->is_open()) {
    throw Error(ErrorKind::usage, "the LibTorch module " + file.string() +
                                      " cannot be opened: " + library->error() +
                                      "; build it again on this machine (scripts/run)");
  }
  return library;
}

const TorchModule& entry_of(const SharedLibrary& library, const fs::path& file) {
  const auto entry = library.function<const TorchModule* (*)()>("cachebisect_torch_module");
  const TorchModule* module = entry == nullptr ? nullptr : entry();
  if (module == nullptr) {
    throw Error(ErrorKind::usage,
                file.string() +
                    " is not a LibTorch module of cachebisect: it has no entry point "
                    "cachebisect_torch_module; check CACHEBISECT_MODULE_PATH");
  }
  if (std::strcmp(module->abi, plugin_abi()) != 0) {
    throw Error(ErrorKind::usage, "the LibTorch module " + file.string() + " was built for [" +
                                      module->abi + "], this is [" + plugin_abi() +
                                      "]; build both together");
  }
  return *module;
}

}  // namespace

std::shared_ptr<TrainStep> make_model_step(const ModelStepRequest& request) {
  const TrainSpec& train = request.train;
  const fs::path file =
      find_module(train.kind == TrainSpec::Kind::module ? train.module : train.model);
  std::shared_ptr<const SharedLibrary> library = open_library(file);
  const TorchModule& module = entry_of(*library, file);
  const auto destroy = module.destroy_step;
  return {module.make_step(request),
          [library = std::move(library), destroy](TrainStep* step) { destroy(step); }};
}

}  // namespace cachebisect
