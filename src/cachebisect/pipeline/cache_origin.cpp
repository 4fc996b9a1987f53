#include "cachebisect/pipeline/cache_origin.hpp"

#include <algorithm>

#include "cachebisect/base/number_format.hpp"

namespace cachebisect {
namespace {

std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(std::int64_t value) { return std::to_string(value); }
std::string text_of(double value) { return format_exact(value); }
std::string text_of(const std::string& value) { return value; }
template <class T>
std::string text_of(const std::vector<T>& values) {
  std::string text;
  for (const T& value : values) text += (text.empty() ? "" : ",") + text_of(value);
  return "[" + text + "]";
}

std::string line_of(const StageSpec& stage) {
  std::string line = stage.use + " " + text_of(stage.fields);
  for (const auto& [name, value] : stage.params.values()) {
    line += " " + name + "=" + std::visit([](const auto& held) { return text_of(held); }, value);
  }
  return line;
}

}  // namespace

CacheOrigin cache_origin(const PipelineSpec& spec, const std::vector<ChainStage>& stages,
                         std::size_t position) {
  CacheOrigin origin;
  const bool known = spec.stages.size() == stages.size();
  for (std::size_t i = 0; i < position; ++i) {
    if (stages[i].traits.caches) continue;
    origin.stages += (known ? line_of(spec.stages[i]) : stages[i].type) + "\n";
  }
  const bool random =
      std::any_of(stages.begin(), stages.begin() + static_cast<std::ptrdiff_t>(position),
                  [](const ChainStage& stage) { return stage.traits.random; });
  if (random) origin.stages += "seed " + std::to_string(spec.seed) + "\n";
  origin.source = static_cast<const SourceStage*>(stages.front().stage.get());
  return origin;
}

}  // namespace cachebisect
