// The JSON report. Keys keep the order of the schema, so that two reports can be compared by eye.
#include "cachebisect/format/json_writer.hpp"

#include <ostream>

#include <nlohmann/json.hpp>

#include "cachebisect/report/json/report_fields.hpp"
#include "cachebisect/report/writers.hpp"

namespace cachebisect {

void write_json(const Report& report, std::ostream& out) {
  JsonWriter writer;
  fields(writer, report);
  // ASCII alone, so that no character is a command to the terminal.
  out << writer.json().dump(2, ' ', true, JsonWriter::Json::error_handler_t::replace) << '\n';
}

}  // namespace cachebisect
