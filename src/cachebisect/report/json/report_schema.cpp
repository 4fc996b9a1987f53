#include "cachebisect/report/writers.hpp"

namespace cachebisect {

extern const char* const report_schema_json;  // generated from docs/schema/report.schema.json

std::string report_schema() { return report_schema_json; }

}  // namespace cachebisect
