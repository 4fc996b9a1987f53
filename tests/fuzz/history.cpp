// A history file: each line is an entry or a problem, and both forms of the trend can be made.
#include "cachebisect/history/history.hpp"

#include "fuzz/fuzz_target.hpp"

#include "cachebisect/base/printable.hpp"

using namespace cachebisect;
using namespace cachebisect::fuzz;

namespace {

std::size_t lines_with_text(std::string_view text) {
  std::size_t count = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) ++count;
  }
  return count;
}

}  // namespace

extern "C" int CACHEBISECT_FUZZ_ENTRY(history)(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(data, size);
  const History history = read_history(text, "fuzz");
  require(history.entries.size() + history.problems.size() == lines_with_text(text),
          "each line is an entry or a problem");
  const std::string shown = history_text(history.entries, {});
  require(shown.find('\x1b') == std::string::npos, "no text of an entry commands the terminal");
  const std::string page = history_html(history, {.last = 3});
  require(page.find("<script>alert") == std::string::npos, "no text of an entry is markup");
  return 0;
}
