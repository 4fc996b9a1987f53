// The JSON Schema (draft 7) of pipeline files, from the same declarations as the checks.
#include <nlohmann/json.hpp>

#include "cachebisect/pipeline/file/param_json.hpp"
#include "cachebisect/pipeline/file/pipeline_file.hpp"
#include "cachebisect/pipeline/file/stages.hpp"
#include "cachebisect/pipeline/file/tables.hpp"

namespace cachebisect {
namespace {

using nlohmann::ordered_json;

// {"properties": {"key": {"const": value}}, "required": ["key"]}
ordered_json having(const char* key, ordered_json schema) {
  return {{"properties", {{key, std::move(schema)}}}, {"required", ordered_json::array({key})}};
}

ordered_json stage_schema(const StageType& type) {
  std::vector<ParamSpec> specs{spec::stage_name_param()};
  if (spec::takes_on_error(type)) specs.push_back(spec::on_error_param());
  specs.insert(specs.end(), type.params.begin(), type.params.end());
  ordered_json schema = spec::params_schema(specs);
  schema["properties"]["use"] = {{"const", type.type}};
  schema["properties"]["name"]["pattern"] = spec::kNamePattern;
  schema["properties"]["name"]["maxLength"] = spec::kMaxNameLength;
  schema["description"] = type.doc;
  return schema;
}

// The type is checked first, so that a validator reports the wrong parameter and not every type.
ordered_json stages_schema(const Registry& registry) {
  ordered_json types = ordered_json::array();
  ordered_json cases = ordered_json::array();
  for (const StageType& type : registry.stages()) {
    types.push_back(type.type);
    cases.push_back({{"if", having("use", {{"const", type.type}})}, {"then", stage_schema(type)}});
  }
  ordered_json item{
      {"type", "object"}, {"properties", {{"use", {{"type", "string"}}}}}, {"required", {"use"}}};
  item["required"] = ordered_json::array({"use"});
  if (!types.empty()) {
    item["properties"]["use"]["enum"] = std::move(types);
    item["allOf"] = std::move(cases);
  }
  return {{"type", "array"},
          {"description", "the chain from read to copy, in order"},
          {"items", std::move(item)},
          {"minItems", 1},
          {"maxItems", spec::kMaxStages}};
}

ordered_json optimizer_schema() {
  ordered_json kinds = ordered_json::array();
  for (const std::string& kind : spec::optimizer_kinds()) {
    ordered_json schema = spec::params_schema(spec::optimizer_params(kind));
    schema["properties"]["kind"] = {{"const", kind}};
    // Without a kind, it is the first one.
    if (kind != spec::optimizer_kinds().front()) schema["required"] = ordered_json::array({"kind"});
    kinds.push_back(std::move(schema));
  }
  return {{"oneOf", std::move(kinds)}};
}

ordered_json train_schema(const Registry& registry) {
  ordered_json forms = ordered_json::array();
  for (const auto& params : {spec::model_params(), spec::module_params()}) {
    ordered_json form = spec::params_schema(params);
    form["properties"]["optimizer"] = optimizer_schema();
    forms.push_back(std::move(form));
  }
  std::vector<ParamSpec> of_kind = spec::wait_params();
  of_kind.push_back(spec::train_kind_param());
  forms.push_back(spec::params_schema(of_kind));
  for (const TrainStepType& type : registry.train_steps()) {
    ordered_json step = spec::params_schema(type.params);
    for (const ParamSpec& wait : spec::wait_params()) {
      if (!step["properties"].contains(wait.name))
        step["properties"][wait.name] = spec::param_schema(wait);
    }
    step["properties"]["use"] = {{"const", type.type}};
    step["required"].push_back("use");
    step["description"] = type.doc;
    forms.push_back(std::move(step));
  }
  return {{"description", "what is trained; absent: a callback given by the library's user"},
          {"oneOf", std::move(forms)}};
}

ordered_json workers_schema() {
  ordered_json number = spec::param_schema(spec::workers_param());
  number.erase("default");
  number.erase("description");
  return {{"description", spec::workers_param().doc},
          {"default", "auto"},
          {"oneOf", ordered_json::array({{{"const", "auto"}}, std::move(number)})}};
}

}  // namespace

std::string pipeline_schema(const Registry& registry) {
  ordered_json schema{{"$schema", "http://json-schema.org/draft-07/schema#"},
                      {"title", "cachebisect pipeline file"}};
  schema.update(spec::params_schema(spec::top_params()));
  ordered_json& properties = schema["properties"];
  properties["name"]["minLength"] = 1;
  properties["name"]["maxLength"] = 100;
  properties["workers"] = workers_schema();
  properties["stages"] = stages_schema(registry);
  properties["train"] = train_schema(registry);
  properties["device"] = {{"type", "string"},
                          {"pattern", device_name_pattern()},
                          {"description", "where the training step runs"},
                          {"default", "auto"}};
  properties["emulate"] = spec::params_schema(spec::emulate_params());
  properties["emulate"]["description"] =
      "the emulated accelerator, used whenever the device is emulated, and the emulated storage";
  ordered_json& storage = properties["emulate"]["properties"]["storage"];
  storage = spec::params_schema(spec::storage_params());
  storage["description"] =
      "the storage that reads of the source wait for, on any device: as `cachebisect "
      "storage-emulator`";
  schema["required"] = ordered_json::array({"stages"});
  return schema.dump(2);
}

}  // namespace cachebisect
