#include <string>

#include "shell/command_manuals.hpp"

namespace cachebisect::cli {
namespace {

constexpr const char* kHead =
    R"(# Completion of cachebisect for bash; made by `cachebisect completion bash`.

# Adds the lines of standard input that begin with what is typed. Nothing in them is expanded.
_cachebisect_lines() {
  local line
  while IFS= read -r line; do
    [[ $line == "$1"* ]] && COMPREPLY+=("$line")
  done
  return 0
}

_cachebisect_files() {
  compopt -o filenames
  mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$1")
}

_cachebisect_folders() {
  compopt -o filenames
  mapfile -t COMPREPLY < <(compgen -d -- "$1")
}

# The command that what is typed before the cursor runs; "--" after the -- of run.
_cachebisect_command() {
  local i command=''
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --) printf '%s' --; return ;;
      -*) ;;
      *)
        # The value of an option is no command.
        case ${COMP_WORDS[i-1]} in
          =|@VALUE_OPTIONS@) ;;
          *)
            case ${COMP_WORDS[i]} in
              @COMMANDS@) [[ $command ]] || command=${COMP_WORDS[i]} ;;
            esac ;;
        esac ;;
    esac
  done
  printf '%s' "$command"
}

_cachebisect() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command
  COMPREPLY=()
  # bash splits --option=value at the =.
  if [[ $current == = ]]; then current=''
  elif [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}
  fi
  command=$(_cachebisect_command)
  if [[ $command == -- ]]; then
    mapfile -t COMPREPLY < <(compgen -c -- "$current")
    _cachebisect_files "$current"
    return
  fi
  case $command:$previous in
)";

constexpr const char* kTail = R"(  esac
}
complete -F _cachebisect cachebisect
)";

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

void replace(std::string& text, const std::string& mark, const std::string& with) {
  text.replace(text.find(mark), mark.size(), with);
}

std::string words_action(const std::vector<std::string>& words) {
  return R"(_cachebisect_lines "$current" <<<')" + joined(words, "\n") + "'";
}

/// What completes a value; "return" if nothing does.
std::string action(const OptionEntry& option) {
  switch (option.completes) {
    case Completes::words:
      return words_action(option.words);
    case Completes::file:
      return R"(_cachebisect_files "$current")";
    case Completes::folder:
      return R"(_cachebisect_folders "$current")";
    case Completes::pipeline:
      return R"(_cachebisect_lines "$current" < <("${COMP_WORDS[0]}" completion pipelines 2>/dev/null)
      _cachebisect_files "$current")";
    case Completes::stage:
      return R"(_cachebisect_lines "$current" < <("${COMP_WORDS[0]}" completion stages 2>/dev/null))";
    case Completes::command:
    case Completes::nothing:
      break;
  }
  return "return";
}

/// The cases of a command: the value after each option, then options and positionals.
std::string cases(const CommandEntry& command, const std::string& name,
                  const std::vector<std::string>& commands) {
  std::string text;
  std::vector<std::string> options;
  std::string positional;
  for (const OptionEntry& option : command.options) {
    options.insert(options.end(), option.names.begin(), option.names.end());
    if (option.names.empty()) {
      if (positional.empty() && option.completes != Completes::command) positional = action(option);
    } else if (!option.value.empty()) {
      std::vector<std::string> patterns;
      for (const std::string& typed : option.names) {
        patterns.push_back(name);
        patterns.back().append(":").append(typed);
      }
      text += "    " + joined(patterns, "|") + ")\n      " + action(option) + " ;;\n";
    }
  }
  if (name.empty()) positional = words_action(commands);
  text += "    " + name + ":*)\n      if [[ $current == -* ]]; then\n        " +
          words_action(options) + "\n      else\n        " +
          (positional.empty() ? ":" : positional) + "\n      fi ;;\n";
  return text;
}

}  // namespace

std::string bash_completion(const CommandTree& tree) {
  std::vector<std::string> commands;
  for (const CommandEntry& command : tree.commands) commands.push_back(command.name);
  std::vector<std::string> value_options;
  const auto add_value_options = [&](const CommandEntry& command) {
    for (const OptionEntry& option : command.options) {
      if (option.value.empty()) continue;
      value_options.insert(value_options.end(), option.names.begin(), option.names.end());
    }
  };
  add_value_options(tree.root);
  for (const CommandEntry& command : tree.commands) add_value_options(command);
  std::string text = kHead;
  replace(text, "@VALUE_OPTIONS@", joined(value_options, "|"));
  replace(text, "@COMMANDS@", joined(commands, "|"));
  for (const CommandEntry& command : tree.commands) text += cases(command, command.name, {});
  return text + cases(tree.root, "", commands) + kTail;
}

}  // namespace cachebisect::cli
