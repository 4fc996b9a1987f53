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

/// All edits as one JSON Patch (RFC 6902), in which "add" also replaces what is there.
std::string json_patch(const Remedy& remedy) {
  Json patch = Json::array();
  for (const Edit& edit : remedy.edits) {
    Json value = Json::parse(edit.value, nullptr, false);
    if (value.is_discarded()) value = edit.value;
    if (value.is_null()) {
      patch.push_back({{"op", "remove"}, {"path", edit.path}});
    } else {
      patch.push_back({{"op", "add"}, {"path", edit.path}, {"value", std::move(value)}});
    }
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
