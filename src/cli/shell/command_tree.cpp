#include "shell/command_tree.hpp"

#include <algorithm>
#include <string_view>

#include <CLI/CLI.hpp>

namespace cachebisect::cli {
namespace {

bool is_word(std::string_view text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789-";
  return !text.empty() && text.find_first_not_of(kLetters) == std::string_view::npos;
}

/// "auto" and "never" of "auto|never", and of "WHEN:{auto,never}".
std::vector<std::string> words_of(std::string_view type) {
  std::vector<std::string> words;
  const std::size_t brace = type.find('{');
  if (brace != std::string_view::npos) {
    type = type.substr(brace + 1, type.find('}') - brace - 1);
  } else if (type.find('|') == std::string_view::npos) {
    return words;
  }
  while (!type.empty()) {
    const std::size_t end = std::min(type.find_first_of("|,"), type.size());
    if (is_word(type.substr(0, end))) words.emplace_back(type.substr(0, end));
    type.remove_prefix(std::min(type.size(), end + 1));
  }
  return words;
}

Completes completes(const OptionEntry& option, const std::string& command) {
  const bool positional = option.names.empty();
  if (!option.words.empty()) return Completes::words;
  if (positional && command == "stages") return Completes::stage;
  if (positional) return option.value == "command" ? Completes::command : Completes::file;
  const bool file = option.value == "FILE" || option.value == "PATH" || option.value == "LIB.so";
  if (file && option.names.front() == "--pipeline") return Completes::pipeline;
  if (file) return Completes::file;
  return option.value == "DIR" ? Completes::folder : Completes::nothing;
}

OptionEntry entry_of(const CLI::Option& option, const std::string& command) {
  OptionEntry entry;
  for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
  const std::string type = option.get_type_name();
  entry.help = option.get_description();
  entry.words = words_of(type);
  if (entry.names.empty()) {
    entry.value = option.get_name(true);
  } else if (option.get_expected_max() > 0) {
    entry.value = type.substr(0, type.find(':'));
    if (entry.value.empty()) entry.value = "VALUE";
  }
  entry.repeatable = option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  entry.completes = completes(entry, command);
  return entry;
}

CommandEntry entry_of(const CLI::App& app) {
  CommandEntry entry{
      .name = app.get_name(), .help = app.get_description(), .footer = app.get_footer()};
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) entry.options.push_back(entry_of(*option, entry.name));
  }
  return entry;
}

}  // namespace

CommandTree command_tree(const CLI::App& app) {
  CommandTree tree{.root = entry_of(app)};
  tree.root.name = "cachebisect";
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) tree.commands.push_back(entry_of(*command));
  }
  return tree;
}

}  // namespace cachebisect::cli
