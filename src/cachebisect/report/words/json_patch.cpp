#include "cachebisect/report/words/json_patch.hpp"

#include <utility>

#include <nlohmann/json.hpp>

namespace cachebisect {
namespace {

using Json = nlohmann::ordered_json;

bool is_element(const std::string& path) {
  const std::string last = path.substr(path.find_last_of('/') + 1);
  return !last.empty() && last.find_first_not_of("0123456789") == std::string::npos;
}

/// "add" sets a member of an object, but inserts into an array.
const char* operation(const Edit& edit) {
  if (edit.kind == EditKind::remove) return "remove";
  return edit.kind == EditKind::set && is_element(edit.path) ? "replace" : "add";
}

}  // namespace

std::string json_patch(const std::vector<Edit>& edits) {
  Json patch = Json::array();
  for (const Edit& edit : edits) {
    Json step{{"op", operation(edit)}, {"path", edit.path}};
    if (edit.kind != EditKind::remove) {
      Json value = Json::parse(edit.value, nullptr, false);
      step["value"] = value.is_discarded() ? Json(edit.value) : std::move(value);
    }
    patch.push_back(std::move(step));
  }
  return patch.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace cachebisect
