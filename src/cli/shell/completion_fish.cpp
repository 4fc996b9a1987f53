#include <string>

#include "shell/command_manuals.hpp"

namespace cachebisect::cli {
namespace {

/// In single quotes, where fish knows two escapes.
std::string quoted_text(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "'";
}

std::string words(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& word : all) text += (text.empty() ? "" : " ") + word;
  return quoted_text(text);
}

/// Whether files are offered, and what else is.
std::string value(const OptionEntry& option) {
  switch (option.completes) {
    case Completes::words:
      return " -x -a " + words(option.words);
    case Completes::file:
      return " -r -F";
    case Completes::folder:
      return " -x -a '(__fish_complete_directories)'";
    case Completes::pipeline:
      return " -r -F -a '(cachebisect completion pipelines 2>/dev/null)'";
    case Completes::stage:
      return " -x -a '(cachebisect completion stages 2>/dev/null)'";
    case Completes::command:
      return " -x -a '(__fish_complete_subcommand)'";
    case Completes::nothing:
      break;
  }
  return " -x";
}

std::string line(const OptionEntry& option, const std::string& condition) {
  std::string text = "complete -c cachebisect -n " + quoted_text(condition);
  for (const std::string& name : option.names) {
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!option.value.empty()) text += value(option);
  return text + " -d " + quoted_text(option.help) + "\n";
}

}  // namespace

std::string fish_completion(const CommandTree& tree) {
  std::string text =
      "# Completion of cachebisect for fish; made by `cachebisect completion fish`.\n"
      "complete -c cachebisect -f\n";
  const std::string before = "__fish_use_subcommand";
  for (const CommandEntry& command : tree.commands) {
    text += "complete -c cachebisect -n " + quoted_text(before) + " -a " +
            quoted_text(command.name) + " -d " + quoted_text(command.help) + "\n";
  }
  for (const OptionEntry& option : tree.root.options) text += line(option, before);
  for (const CommandEntry& command : tree.commands) {
    const std::string within = "__fish_seen_subcommand_from " + command.name;
    for (const OptionEntry& option : command.options) text += line(option, within);
  }
  return text;
}

}  // namespace cachebisect::cli
