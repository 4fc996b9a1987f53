#include "cachebisect/pipeline/file/stage_doc.hpp"

#include <algorithm>
#include <string_view>

#include "cachebisect/pipeline/file/stage_facts.hpp"

namespace cachebisect {
namespace {

constexpr std::size_t kColumns = 80;

// `text` wrapped at kColumns, indented by `indent`; `first` starts the first line.
std::string wrapped(std::string first, std::size_t indent, std::string_view text) {
  std::string line = std::move(first);
  line.resize(std::max(line.size(), indent), ' ');
  std::string out;
  bool begun = false;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    const std::string_view word = text.substr(start, end - start);
    if (begun && line.size() + 1 + word.size() > kColumns) {
      out += line + '\n';
      line.assign(indent, ' ');
      begun = false;
    }
    if (begun) line += ' ';
    line += word;
    begun = true;
    start = end + 1;
  }
  return out + line + '\n';
}

// Categories in the order of a chain, then others by name.
std::vector<std::string> categories_of(const Registry& registry) {
  std::vector<std::string> out;
  for (const char* category :
       {"read", "decode", "augment", "cache", "collate", "copy", "device", "synthetic"}) {
    const bool used = std::ranges::any_of(
        registry.stages(), [&](const StageType& type) { return type.category() == category; });
    if (used) out.emplace_back(category);
  }
  for (const StageType& type : registry.stages()) {
    if (std::ranges::find(out, type.category()) == out.end()) out.emplace_back(type.category());
  }
  return out;
}

// Escapes `|`, which would end a table cell.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string stage_markdown(const StageType& type) {
  const spec::StageFacts facts = spec::facts_of(type);
  std::string out = "### " + type.type + "\n\n" + type.doc + "\n\nKind: " + facts.kind + ".\n\n";
  out += "| parameter | takes | default | meaning |\n| --- | --- | --- | --- |\n";
  for (const spec::ParamFacts& param : facts.params) {
    const bool is_value = param.default_value != "required" && param.default_value != "none";
    const std::string shown =
        is_value ? "`" + cell(param.default_value) + "`" : param.default_value;
    out += "| `" + param.name + "` | " + cell(param.accepted) + " | " + shown + " | " +
           cell(param.doc) + " |\n";
  }
  return out + "\n```json\n" + facts.example + "\n```\n\n";
}

}  // namespace

std::string stage_text(const StageType& type) {
  const spec::StageFacts facts = spec::facts_of(type);
  std::string out =
      wrapped("", 0, type.type + ": " + type.doc) + wrapped("", 0, facts.kind) + "\nParameters\n";
  std::size_t indent = 0;
  for (const spec::ParamFacts& param : facts.params)
    indent = std::max(indent, param.name.size() + 4);
  for (const spec::ParamFacts& param : facts.params) {
    const bool required = param.default_value == "required";
    out += wrapped("  " + param.name, indent,
                   param.accepted + (required ? "; required" : "; default " + param.default_value));
    if (!param.doc.empty()) out += wrapped("", indent, param.doc);
  }
  return out + "\nExample\n" + wrapped("", 2, facts.example);
}

std::string stages_text(const Registry& registry) {
  std::string out;
  std::size_t indent = 0;
  for (const StageType& type : registry.stages()) indent = std::max(indent, type.type.size() + 2);
  for (const std::string& category : categories_of(registry)) {
    for (const StageType& type : registry.stages()) {
      if (type.category() == category) out += wrapped(type.type, indent, type.doc);
    }
  }
  return out;
}

std::string stages_markdown(const Registry& registry) {
  std::string out =
      "# Stages\n\nGenerated from the stages' own declarations; `cachebisect stages TYPE` prints "
      "the "
      "same for one stage.\nEvery parameter is a key of the stage's object in the pipeline file, "
      "alongside `\"use\"`.\n\n";
  for (const std::string& category : categories_of(registry)) {
    out += "## " + category + "\n\n";
    for (const StageType& type : registry.stages()) {
      if (type.category() == category) out += stage_markdown(type);
    }
  }
  out.pop_back();
  return out;
}

}  // namespace cachebisect
