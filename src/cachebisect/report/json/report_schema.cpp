#include <utility>

#include <nlohmann/json.hpp>

#include "cachebisect/format/json_schema.hpp"
#include "cachebisect/report/json/report_fields.hpp"
#include "cachebisect/report/writers.hpp"

namespace cachebisect {

std::string report_schema() {
  JsonSchema::Json schema{
      {"$schema", "http://json-schema.org/draft-07/schema#"},
      {"title", "cachebisect report"},
      {"description",
       "Units are in the names; numbers are unrounded; what was not measured is null. Readers must "
       "ignore unknown keys."}};
  JsonSchema described;
  fields(described, Report{});
  schema.update(described.json());
  schema["properties"]["schema_version"] = {{"const", kReportSchemaVersion},
                                            {"description", "rises on any breaking change"}};
  return schema.dump(2) + '\n';
}

}  // namespace cachebisect
