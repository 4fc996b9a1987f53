#include "cachebisect/prepare/prepared_pipeline.hpp"

#include <nlohmann/json.hpp>

#include "cachebisect/pipeline/file/pipeline_file.hpp"

namespace cachebisect::prepare {

std::string prepared_pipeline(const PipelineSpec& spec, std::size_t stages) {
  using Json = nlohmann::ordered_json;
  Json document = Json::parse(to_json(spec));
  Json& all = document.at("stages");
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(stages));
  // Relative to the file, so that the folder can be moved.
  all.insert(all.begin(), Json{{"use", "read.shards"}, {"path", "."}});
  return document.dump(2, ' ', true, Json::error_handler_t::replace) + '\n';
}

PipelineSpec without_caches(PipelineSpec spec, const Registry& registry) {
  std::erase_if(spec.stages, [&registry](const StageSpec& stage) {
    return registry.stage(stage.use).traits.caches;
  });
  return spec;
}

}  // namespace cachebisect::prepare
