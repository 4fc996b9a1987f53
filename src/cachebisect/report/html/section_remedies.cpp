// What to try, with the flags and edits to copy.
#include <string>

#include <nlohmann/json.hpp>

#include "cachebisect/format/html/elements.hpp"
#include "cachebisect/format/text_layout.hpp"
#include "cachebisect/report/html/sections.hpp"
#include "cachebisect/report/words/remedy_text.hpp"

namespace cachebisect::html {
namespace {

using Json = nlohmann::ordered_json;

bool is_element(const std::string& path) {
  const std::string last = path.substr(path.find_last_of('/') + 1);
  return !last.empty() && last.find_first_not_of("0123456789") == std::string::npos;
}

/// In a JSON Patch (RFC 6902), "add" sets a member of an object, but inserts into an array.
const char* operation(const Edit& edit) {
  if (edit.kind == EditKind::remove) return "remove";
  return edit.kind == EditKind::set && is_element(edit.path) ? "replace" : "add";
}

/// All edits as one JSON Patch.
std::string json_patch(const Remedy& remedy) {
  Json patch = Json::array();
  for (const Edit& edit : remedy.edits) {
    Json step{{"op", operation(edit)}, {"path", edit.path}};
    if (edit.kind != EditKind::remove) {
      Json value = Json::parse(edit.value, nullptr, false);
      step["value"] = value.is_discarded() ? Json(edit.value) : std::move(value);
    }
    patch.push_back(std::move(step));
  }
  return patch.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Html edits(const Remedy& remedy) {
  if (remedy.edits.empty()) return {};
  Html all;
  for (const Edit& edit : remedy.edits) all += note(edit_text(edit));
  return all + copyable(json_patch(remedy), "Copy as JSON Patch");
}

Html item(const Remedy& remedy) {
  Html content = element("p", element("strong", as_sentence(remedy.text))) +
                 paragraph(as_sentence(remedy.reason));
  const std::string gain = remedy_gain(remedy);
  if (!gain.empty()) content += paragraph(as_sentence(gain));
  for (const std::string& flag : remedy.flags) content += copyable(flag);
  content += edits(remedy);
  for (const std::string& line : remedy.lines) content += copyable(line);
  return element("li", content);
}

}  // namespace

Html remedies_section(const Report& report) {
  if (report.remedies.empty()) return {};
  Html items;
  for (const Remedy& remedy : report.remedies) items += item(remedy);
  return section("remedies", "Things to try", element("ol", {{"class", "remedies"}}, items));
}

}  // namespace cachebisect::html
