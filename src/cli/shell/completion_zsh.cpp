#include <string>

#include "shell/command_manuals.hpp"

namespace cachebisect::cli {
namespace {

/// In single quotes.
std::string quoted_word(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c == '\n' ? ' ' : c;
    }
  }
  return out + "'";
}

/// Part of a specification of _arguments or _describe, in which : [ ] \ have a meaning.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::string("\\:[]").find(c) != std::string::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_action(const OptionEntry& option) {
  switch (option.completes) {
    case Completes::words: {
      std::string words;
      for (const std::string& word : option.words) words += (words.empty() ? "" : " ") + word;
      return "(" + words + ")";
    }
    case Completes::file:
      return "_files";
    case Completes::folder:
      return "_files -/";
    case Completes::pipeline:
      return "_cachebisect_pipelines";
    case Completes::stage:
      return "_cachebisect_stages";
    case Completes::command:
      return "_normal";
    case Completes::nothing:
      break;
  }
  return " ";
}

std::string specification(const OptionEntry& option, const std::string& name) {
  const std::string value =
      option.value.empty() ? "" : ":" + escaped(option.value) + ":" + zsh_action(option);
  if (!name.empty()) {
    return quoted_word((option.repeatable ? "*" : "") + name + "[" + escaped(option.help) + "]" +
                       value);
  }
  if (option.completes == Completes::command) return quoted_word("*::" + option.value + ":_normal");
  return quoted_word((option.repeatable ? "*" : "") + value);
}

std::string specifications(const CommandEntry& command, const std::string& indent) {
  std::string text;
  for (const OptionEntry& option : command.options) {
    for (const std::string& name : option.names) {
      text += " \\\n" + indent + specification(option, name);
    }
    if (option.names.empty()) text += " \\\n" + indent + specification(option, "");
  }
  return text;
}

constexpr const char* kZshHead = R"(#compdef cachebisect
# Completion of cachebisect for zsh; made by `cachebisect completion zsh`.

_cachebisect_names() {
  local -a names
  names=("${(@f)$(cachebisect completion $1 2>/dev/null)}")
  compadd -a names
}

_cachebisect_pipelines() {
  _cachebisect_names pipelines
  _files
}

_cachebisect_stages() { _cachebisect_names stages }

_cachebisect() {
  local curcontext=$curcontext state line
  typeset -A opt_args
  local -a commands
)";

constexpr const char* kZshTail = R"(  esac
}

if [[ $funcstack[1] == _cachebisect ]]; then
  _cachebisect "$@"
else
  compdef _cachebisect cachebisect
fi
)";

}  // namespace

std::string zsh_completion(const CommandTree& tree) {
  std::string text = std::string(kZshHead) + "  commands=(";
  for (const CommandEntry& command : tree.commands) {
    text += "\n    " + quoted_word(escaped(command.name) + ":" + command.help);
  }
  text += "\n  )\n  _arguments -C" + specifications(tree.root, "    ") +
          " \\\n    ': :->command' '*:: :->words'\n"
          "  case $state in\n"
          "    command) _describe command commands ;;\n"
          "    words)\n"
          "      case $words[1] in\n";
  for (const CommandEntry& command : tree.commands) {
    text += "        " + command.name + ")\n          _arguments" +
            specifications(command, "            ") + " ;;\n";
  }
  return text + "      esac ;;\n" + kZshTail;
}

}  // namespace cachebisect::cli
