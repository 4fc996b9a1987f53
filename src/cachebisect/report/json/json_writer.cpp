// The JSON report. Keys keep the order of the schema, so that two reports can be compared by eye.
#include "cachebisect/format/json_writer.hpp"

#include <ostream>
#include <string>

#include <nlohmann/json.hpp>

#include "cachebisect/report/json/report_fields.hpp"
#include "cachebisect/report/writers.hpp"

namespace cachebisect {
namespace {

using Json = JsonWriter::Json;

/// ASCII alone, so that no character is a command to the terminal.
std::string dumped(const Json& json, int indent) {
  return json.dump(indent, ' ', true, Json::error_handler_t::replace);
}

/// The value of a member of the report: lists that only programs read have a line per item.
std::string member_text(const std::string& key, const Json& value) {
  if (key == "recording") return dumped(value, -1);
  if (key == "blocks" && !value.empty()) {
    std::string text = "[";
    for (const Json& block : value)
      text += (text.size() > 1 ? ",\n    " : "\n    ") + dumped(block, -1);
    return text + "\n  ]";
  }
  std::string text;
  for (const char c : dumped(value, 2)) text += c == '\n' ? "\n  " : std::string(1, c);
  return text;
}

}  // namespace

void write_json(const Report& report, std::ostream& out) {
  JsonWriter writer;
  fields(writer, report);
  std::string separator = "{\n  ";
  for (const auto& [key, value] : writer.json().items()) {
    out << separator << '"' << key << "\": " << member_text(key, value);
    separator = ",\n  ";
  }
  out << "\n}\n";
}

}  // namespace cachebisect
