#include <algorithm>
#include <string>

#include "shell/command_manuals.hpp"

#include "cachebisect/base/version.hpp"

namespace cachebisect::cli {
namespace {

/// Text as roff prints it: no character acts as a request or an escape, and hyphens are those that
/// are typed.
std::string roff(const std::string& text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    line_begins = c == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string capitalised(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') {
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  }
  return text;
}

std::string option_item(const OptionEntry& option) {
  std::string names;
  for (const std::string& name : option.names) {
    names += (names.empty() ? "" : ", ") + ("\\fB" + roff(name) + "\\fR");
  }
  if (!option.value.empty()) {
    names += (names.empty() ? "" : " ") + ("\\fI" + roff(option.value) + "\\fR");
  }
  return ".TP\n" + names + "\n" + roff(capitalised(option.help)) + ".\n";
}

bool is_in_root(const OptionEntry& option, const CommandTree& tree) {
  return std::ranges::any_of(tree.root.options, [&](const OptionEntry& other) {
    return other.names == option.names && other.help == option.help && other.value == option.value;
  });
}

/// Options that the default command has too are described once.
std::string command_part(const CommandEntry& command, const CommandTree& tree) {
  std::string text = ".SS " + roff(command.name) + "\n" + roff(capitalised(command.help)) + ".\n";
  std::string shared;
  for (const OptionEntry& option : command.options) {
    if (!option.names.empty() && is_in_root(option, tree)) {
      shared += (shared.empty() ? "" : ", ") + ("\\fB" + roff(option.names.back()) + "\\fR");
    } else {
      text += option_item(option);
    }
  }
  return shared.empty() ? text : text + ".PP\nAs above: " + shared + ".\n";
}

}  // namespace

std::string man_page(const CommandTree& tree) {
  const std::string name = roff(tree.root.name);
  std::string text =
      ".\\\" Made by `cachebisect completion man`.\n.TH CACHEBISECT 1 \"\" \"cachebisect " +
      roff(version()) + "\" \"User Commands\"\n.SH NAME\n" + name +
      " \\- find the stage of an input pipeline that starves the accelerator\n" +
      ".SH SYNOPSIS\n.B " + name + "\n[\\fICOMMAND\\fR] [\\fIOPTIONS\\fR]\n" + ".SH DESCRIPTION\n" +
      roff(tree.root.help) +
      "\n.PP\nWithout a command, the options are those of \\fBbisect\\fR.\n" + ".SH OPTIONS\n";
  for (const OptionEntry& option : tree.root.options) text += option_item(option);
  text += ".SH COMMANDS\n";
  for (const CommandEntry& command : tree.commands) text += command_part(command, tree);
  return text + ".SH EXIT STATUS\n" + roff(tree.root.footer) + ".\n";
}

}  // namespace cachebisect::cli
