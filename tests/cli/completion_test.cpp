// Completion in the shells themselves, and the man page in its readers. CI has all of them.
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "support/command.hpp"
#include "support/files.hpp"
#include "support/lacking.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect::test;

namespace {

const std::string kTool = CACHEBISECT_BINARY_DIR "/bin/cachebisect";

bool is_installed(const std::string& program) {
  const bool found = run({"sh", "-c", "command -v " + program}).exit_code == 0;
  if (!found) MESSAGE(program << " is not installed");
  return found;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

bool offers(const std::vector<std::string>& lines, const std::string& word) {
  return std::find(lines.begin(), lines.end(), word) != lines.end();
}

/// What bash offers after these words, the last one of which is being typed.
std::vector<std::string> bash_offers(std::vector<std::string> words,
                                     const std::string& folder = ".") {
  const std::string script =
      "cd '" + folder + "' && source <('" + kTool +
      "' completion bash) && compopt() { :; } && COMP_WORDS=(\"$@\") && "
      "COMP_CWORD=$(($# - 1)) && _cachebisect; printf '%s\\n' \"${COMPREPLY[@]}\"";
  words.insert(words.begin(), {"bash", "--norc", "-c", script, "_", kTool});
  const auto result = run(words);
  CHECK(result.err.empty());
  return lines_of(result.out);
}

}  // namespace

TEST_CASE("bash completes commands, options and their values") {
  CHECK(offers(bash_offers({"bi"}), "bisect"));
  CHECK_FALSE(offers(bash_offers({"bi"}), "run"));
  CHECK(offers(bash_offers({"--bud"}), "--budget"));
  CHECK(offers(bash_offers({"bisect", "--co"}), "--cost-per-hour"));
  CHECK_FALSE(offers(bash_offers({"chunks", "--bud"}), "--budget"));
  CHECK(bash_offers({"--color", "al"}) == std::vector<std::string>{"always"});
  CHECK(bash_offers({"bisect", "--color", "=", "al"}) == std::vector<std::string>{"always"});
  CHECK(offers(bash_offers({"schema", ""}), "report"));
  CHECK(bash_offers({"stages", "augment.random_c"}) ==
        std::vector<std::string>{"augment.random_crop"});
  CHECK(offers(bash_offers({"--pipeline", "cif"}), "cifar"));
  CHECK(bash_offers({"--budget", ""}) == std::vector<std::string>{""});
}

TEST_CASE("an option that takes one of a few words completes them") {
  const std::vector<std::vector<std::string>> chosen{
      {"profile", "--profiler", "advanced", "pytorch", "simple"},
      {"profile", "--sort", "calls", "mean", "self", "total"},
      {"bisect", "--fail-on", "anomaly", "drop", "flat", "inconclusive", "spread"},
      {"run", "--fail-on", "anomaly", "drop", "flat", "inconclusive", "spread"},
      {"bisect", "--io", "as-is", "cold", "warm"},
      {"bisect", "--format", "markdown", "text"},
      {"compare", "--format", "markdown", "text"},
      {"time", "--precision", "16-mixed", "32", "bf16-mixed"},
      {"run", "--then", "continue", "exit"},
      {"history", "--color", "always", "auto", "never"}};
  for (const std::vector<std::string>& words : chosen) {
    CAPTURE(words[0]);
    CAPTURE(words[1]);
    std::vector<std::string> offered = bash_offers({words[0], words[1], ""});
    std::sort(offered.begin(), offered.end());
    CHECK(offered == std::vector<std::string>(words.begin() + 2, words.end()));
  }
}

TEST_CASE("the words that are completed are those that the command takes") {
  const auto error_of = [](std::vector<std::string> words) {
    words.insert(words.end(), {"--pipeline", "/missing.json"});
    return run_tool(words).err;
  };
  for (const std::string& word : bash_offers({"bisect", "--fail-on", ""})) {
    CHECK(has(error_of({"bisect", "--fail-on", word}), "/missing.json"));
  }
  for (const char* const option : {"--profiler", "--sort"}) {
    for (const std::string& word : bash_offers({"profile", option, ""})) {
      const auto error = error_of({"profile", option, word, "--trace", "/dev/null"});
      CHECK_MESSAGE(has(error, "/missing.json"), error);
    }
  }
}

TEST_CASE("bash is not misled by the value of an option that looks like a command") {
  CHECK(offers(bash_offers({"--pipeline", "time", "--boun"}), "--boundaries"));
  CHECK(offers(bash_offers({"run", "--", "bas"}), "bash"));
}

TEST_CASE("bash completes files whose names are hostile, and expands nothing in them") {
  const TemporaryFolder folder;
  folder.write("$(touch injected) x.json", "{}");
  folder.write("ordinary.json", "{}");
  const auto files = bash_offers({"check", "--pipeline", ""}, folder.path());
  CHECK(offers(files, "$(touch injected) x.json"));
  CHECK(offers(files, "ordinary.json"));
  CHECK(entries_in(folder.path()) == 2);
}

TEST_CASE("fish completes commands, options and their values") {
  if (!is_installed("fish")) return skip("fish");
  const TemporaryFolder folder;
  const std::string script = folder.write("c.fish", run_tool({"completion", "fish"}).out);
  const auto fish_offers = [&](const std::string& typed) {
    const auto result =
        run({"env", "HOME=" + folder.path(), "PATH=" CACHEBISECT_BINARY_DIR "/bin:/usr/bin:/bin",
             "fish", "--no-config", "-c", "source " + script + "; complete -C '" + typed + "'"});
    CHECK_MESSAGE(result.err.empty(), result.err);
    return result.out;
  };
  CHECK(has(fish_offers("cachebisect bi"), "bisect\tfind the stage"));
  CHECK(has(fish_offers("cachebisect bisect --bud"), "--budget"));
  CHECK(has(fish_offers("cachebisect bisect --color al"), "always"));
  CHECK(has(fish_offers("cachebisect profile --sort ca"), "calls"));
  CHECK(has(fish_offers("cachebisect stages augment.random_c"), "augment.random_crop"));
  CHECK(has(fish_offers("cachebisect --pipeline cif"), "cifar"));
}

TEST_CASE("zsh parses its script, and each command passes specifications to _arguments") {
  if (!is_installed("zsh")) return skip("zsh");
  const TemporaryFolder folder;
  const std::string script = folder.write("_cachebisect", run_tool({"completion", "zsh"}).out);
  CHECK(run({"zsh", "-f", "-n", script}).exit_code == 0);
  const auto result = run({"zsh", "-f", "-c",
                           "compdef() { :; }; _describe() { :; }; "
                           "_arguments() { print -rl -- \"$@\"; state=words; }; "
                           "source " +
                               script + "; words=(bisect); _cachebisect"});
  CHECK(result.err.empty());
  CHECK(has(result.out, "--color["));
  CHECK(has(result.out, "(auto always never)"));
  CHECK(has(result.out, "*--set["));
  CHECK(has(result.out, ":_cachebisect_pipelines"));
}

TEST_CASE("zsh itself completes commands and options") {
  if (!is_installed("zsh")) return skip("zsh");
  if (const auto lacking = lacking_terminal()) return skip(*lacking);
  const TemporaryFolder folder;
  folder.write("_cachebisect", run_tool({"completion", "zsh"}).out);
  // A shell on a pseudo-terminal, to which a word and a tab are typed.
  const std::string script = R"(
    zmodload zsh/zpty
    zpty shell zsh -f -i
    zpty -w shell "PS1=; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D; print ready=yes"
    zpty -r shell text '*ready=yes*'
    zpty -w -n shell $'cachebisect bisect --cost\t'
    zpty -r -m shell text '*--cost-per-hour*' && print found
    zpty -d shell)";
  const auto result = run({"timeout", "200", "zsh", "-f", "-c", script, "_", folder.path()});
  CHECK_MESSAGE(has(result.out, "found"), result.out << result.err);
}

TEST_CASE("the man page describes every command and option, without a warning of its readers") {
  const auto page = run_tool({"completion", "man"});
  CHECK(page.exit_code == 0);
  for (const char* const part :
       {".SH NAME", ".SS chunks", "\\-\\-cost\\-per\\-hour", ".SH EXIT STATUS"}) {
    CHECK(has(page.out, part));
  }
  const TemporaryFolder folder;
  const std::string file = folder.write("cachebisect.1", page.out);
  if (!is_installed("mandoc")) return skip("mandoc");
  // It has no date, so that equal sources make equal pages.
  for (const std::string& line : lines_of(run({"mandoc", "-Tlint", "-Wwarning", file}).out)) {
    CHECK_MESSAGE(has(line, "missing date"), line);
  }
  CHECK(has(run({"mandoc", "-Tutf8", file}).out, "Exit codes: 0 done"));
}

TEST_CASE("what is installed is what the command writes") {
  const std::string share = CACHEBISECT_BINARY_DIR "/share/";
  CHECK(read_file(share + "man/man1/cachebisect.1") == run_tool({"completion", "man"}).out);
  CHECK(read_file(share + "bash-completion/completions/cachebisect") ==
        run_tool({"completion", "bash"}).out);
  CHECK(read_file(share + "zsh/site-functions/_cachebisect") ==
        run_tool({"completion", "zsh"}).out);
  CHECK(read_file(share + "fish/vendor_completions.d/cachebisect.fish") ==
        run_tool({"completion", "fish"}).out);
}
