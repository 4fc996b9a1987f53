#include "cachebisect/report/json/schema_version.hpp"

#include <string>

namespace cachebisect {

void check_schema_version(const JsonValue& document) {
  const JsonValue version = document["schema_version"];
  if (version.is_null()) {
    version.refuse("is missing: this is not a report (write one with --json FILE)");
  }
  if (version.number() != kReportSchemaVersion) {
    version.refuse("is " + version.json() + "; this cachebisect reads version " +
                   std::to_string(kReportSchemaVersion));
  }
}

}  // namespace cachebisect
