// What a relay sends on of the answers of its ranks.
#include <array>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "cachebisect/format/json_writer.hpp"
#include "cachebisect/protocol/answer_fields.hpp"
#include "cachebisect/remote/messages.hpp"

namespace cachebisect {
namespace {

using nlohmann::json;

/// Leaves out what messages need not have: what is not known, and empty lists.
void leave_out_unknown(json& value) {
  if (value.is_object()) {
    std::erase_if(*value.get_ptr<json::object_t*>(), [](const auto& member) {
      const json& field = member.second;
      return field.is_null() || (field.is_array() && field.empty());
    });
  }
  if (!value.is_structured()) return;
  for (json& inner : value) leave_out_unknown(inner);
}

const char* name_of_kind(ErrorKind kind) {
  constexpr std::array<std::pair<ErrorKind, const char*>, 4> kNames{
      {{ErrorKind::data, "data"},
       {ErrorKind::usage, "usage"},
       {ErrorKind::device, "device"},
       {ErrorKind::interrupted, "interrupted"}}};
  for (const auto& [known, name] : kNames) {
    if (known == kind) return name;
  }
  return "internal";
}

}  // namespace

json block_json(const BlockResult& block) {
  JsonWriter writer;
  message_fields(writer, block);
  json object = writer.json();
  leave_out_unknown(object);
  return object;
}

json error_json(const Error& error) {
  json object{{"kind", name_of_kind(error.kind())}, {"text", error.what()}};
  if (!error.details().empty()) object["traceback"] = error.details();
  return object;
}

}  // namespace cachebisect
