// The JSON report's content as YAML.
#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

#include "cachebisect/format/yaml_text.hpp"
#include "cachebisect/report/writers.hpp"

namespace cachebisect {

std::string to_yaml(const Report& report) {
  std::stringstream json;
  write_json(report, json);
  return to_yaml(nlohmann::ordered_json::parse(json));
}

}  // namespace cachebisect
