#include "cachebisect/format/markdown_text.hpp"

#include <string>

#include <doctest/doctest.h>

using namespace cachebisect;

TEST_CASE("markup in a cell is escaped") {
  CHECK(markdown_cell("decode (decode.image)") == "decode (decode.image)");
  CHECK(markdown_cell("") == "");
  CHECK(markdown_cell("a|b") == "a\\|b");
  CHECK(markdown_cell("a\\|b") == "a\\\\\\|b");
  CHECK(markdown_cell("*bold* _it_ `code` ~~no~~") ==
        "\\*bold\\* \\_it\\_ \\`code\\` \\~\\~no\\~\\~");
  CHECK(markdown_cell("read.image_folder __x__") == "read.image_folder \\_\\_x\\_\\_");
  CHECK(markdown_cell("</script>&lt;") == "\\</script\\>\\&lt;");
  CHECK(markdown_cell("[text](http://x) $x$") == "\\[text\\](http://x) \\$x\\$");
}

TEST_CASE("a line break in a cell becomes a space, and does not end the row") {
  CHECK(markdown_cell("one\ntwo\r\n\r\nthree\n") == "one two three");
}

TEST_CASE("control characters and broken UTF-8 are shown") {
  CHECK(markdown_cell("a\x1b[31m") == "a\\\\x1b\\[31m");
  CHECK(markdown_cell("\xff") == "\\\\xff");
  CHECK(markdown_cell("\u00e9t\u00e9") == "\u00e9t\u00e9");
}

TEST_CASE("what is markup at the start of a line only is escaped there only") {
  CHECK(markdown_text("# title - x") == "\\# title - x");
  CHECK(markdown_text("- item") == "\\- item");
  CHECK(markdown_text("1. item") == "1\\. item");
  CHECK(markdown_text("2,500 samples/s") == "2,500 samples/s");
  CHECK(markdown_text("2.5 ms") == "2.5 ms");
  CHECK(markdown_text("---") == "\\---");
}

TEST_CASE("no name mentions a person or an issue") {
  CHECK(markdown_cell("see @team and #12") == "see @\u200bteam and #\u200b12");
  CHECK(markdown_cell("@team") == "@\u200bteam");
  CHECK(markdown_cell("git@host a # b") == "git@host a # b");
}

TEST_CASE("long texts are cut between characters") {
  std::string long_name;
  for (int i = 0; i < 5000; ++i) long_name += "\u00e9";
  CHECK(markdown_cell(long_name).size() == 120 * 2 + 3);
  CHECK(markdown_text(long_name).size() == 2000 * 2 + 3);
}

TEST_CASE("a fence is longer than any in the code") {
  CHECK(markdown_code_block("{}", "json") == "```json\n{}\n```\n");
  CHECK(markdown_code_block("a\n````\nb\n", "") == "`````\na\n````\nb\n`````\n");
  CHECK(markdown_code_block("\x1b", "") == "```\n\\x1b\n```\n");
}
