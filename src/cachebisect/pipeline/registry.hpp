// The registry of stages and training steps. A plain value that keeps its plugins open.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/pipeline/params.hpp"
#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect {

class SharedLibrary;
class TrainStep;

/// A stage type: everything that the documentation, the checks and the chain need before a stage
/// is made.
struct CACHEBISECT_API StageType {
  std::string type{};  ///< "category.name"
  std::string doc{};   ///< one line
  StageKind kind = StageKind::sample;
  StageTraits traits{};
  std::vector<ParamSpec>
      params{};           ///< `fields` is added by the registry for kinds sample and device
  std::string example{};  ///< a JSON object that makes one, without "use": R"({"size": 224})"
  std::function<std::unique_ptr<Stage>(const Params&)> make{};

  [[nodiscard]] std::string_view category() const noexcept;  ///< before the dot
  [[nodiscard]] bool takes_fields() const noexcept;          ///< it works on some fields alone
};

/// A training step that a plugin offers under `train: {"use": "my.step"}`.
struct TrainStepType {
  std::string type{};
  std::string doc{};
  std::vector<ParamSpec> params{};
  std::function<std::shared_ptr<TrainStep>(const Params&)> make{};
};

class CACHEBISECT_API Registry {
 public:
  Registry() = default;
  Registry(const Registry& other) = default;
  Registry(Registry&& other) noexcept = default;
  Registry& operator=(Registry other) noexcept;
  ~Registry() = default;

  /// Throws Error(usage) if the type is already registered, is not category.name in [a-z0-9_-], or
  /// has an invalid declaration (a default outside its range, a reserved name).
  void add(StageType type);
  void add(TrainStepType type);
  /// Throws Error(usage) that names the nearest known type.
  [[nodiscard]] const StageType& stage(std::string_view type) const;
  [[nodiscard]] const TrainStepType& train_step(std::string_view type) const;
  /// Both lists are sorted by type.
  [[nodiscard]] const std::vector<StageType>& stages() const noexcept { return stages_; }
  [[nodiscard]] const std::vector<TrainStepType>& train_steps() const noexcept {
    return train_steps_;
  }
  /// Opens a plugin and lets it register. Throws Error(usage), with the registry unchanged, if it
  /// cannot be opened, has no entry point, was built for another ABI or fails.
  void load_plugin(const std::string& path);

 private:
  // Declared first, so that the libraries are closed after everything that came from them.
  std::vector<std::shared_ptr<const SharedLibrary>> libraries_;
  std::vector<StageType> stages_;
  std::vector<TrainStepType> train_steps_;
};

/// The string that core and plugin must agree on: core version, compiler, C++ ABI.
CACHEBISECT_API const char* plugin_abi() noexcept;

/// Returned by a plugin's `extern "C" const cachebisect::PluginEntry* cachebisect_plugin()`.
struct PluginEntry {
  const char* abi;  ///< CACHEBISECT_PLUGIN_ABI (pipeline/plugin.hpp) of its build
  void (*register_all)(Registry& registry);
};

}  // namespace cachebisect
