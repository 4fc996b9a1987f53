#include "cachebisect/format/text_layout.hpp"

#include <string>

#include "support/text_width.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using test::widest_line;

TEST_CASE("wrapping indents the lines that follow and breaks words that fit no line") {
  CHECK(wrap("one two three", 8, 2) == "one two\n  three\n");
  CHECK(wrap("", 8, 2) == "\n");
  CHECK(wrap("unbreakable", 4, 0) == "unbr\neaka\nble\n");
  CHECK(wrap("a unbreakable", 6, 2) == "a\n  unbr\n  eaka\n  ble\n");
  CHECK(wrap("日本語日本語", 5, 0) == "日本\n語日\n本語\n");
  CHECK(widest_line(wrap(std::string(10000, 'x'), 80, 2)) == 80);
}

TEST_CASE("wide, combining and foreign characters count as the terminal shows them") {
  CHECK(display_width("crop") == 4);
  CHECK(display_width("日本語") == 6);
  CHECK(display_width("ｆｕｌｌ") == 8);
  CHECK(display_width("caf\u00e9") == 4);
  CHECK(display_width("cafe\u0301") == 4);
  CHECK(display_width("\U0001F600") == 2);
  CHECK(display_width("\x1b[31mred\x1b[0m") == 3);
  CHECK(display_width("\xff\xfe") == 2);
  CHECK(display_width("\x1b[31") == 0);
}

TEST_CASE("names of stages lose whole words, the longest first") {
  const std::string row = "+ read MNIST.__getitem__ ... transforms[1] Normalize (3) = live";
  CHECK(fitted(row, 80) == row);
  CHECK(fitted(row, 60) == "+ read ... transforms[1] Normalize (3) = live");
  CHECK(fitted(row, 40) == "+ read ... transforms[1] (3) = live");
  CHECK(fitted(row, 10) == "+ read ... transforms[1] (3) = live");
  CHECK(fitted("+ loader 2 (train.py:41), copy", 25) == "+ loader 2, copy");
  CHECK(fitted("+ collate_fn  default_collate", 12) == "+ collate_fn");
  CHECK(fitted("decode", 3) == "decode");
  CHECK(fitted("", 0).empty());
  CHECK(fitted("   ", 1).empty());
}

TEST_CASE("a clipped text keeps its beginning and its end, and no half of a character") {
  CHECK(clipped("short", 5) == "short");
  CHECK(clipped("abcdefghijklmnop", 12) == "abcdef...nop");
  CHECK(clipped("abcdefghijklmnop", 12, "…") == "abcdefgh…nop");
  CHECK(clipped("日本語日本語日本語", 10, "…") == "日本語…語");
  CHECK(clipped("abcdef", 2) == "...");
  CHECK(clipped("\x1b[31mabcdefgh\x1b[0m", 6) == "\x1b[31mabc...\x1b[0m");
}

TEST_CASE("a table fits the terminal: its widest text is clipped, its numbers are not") {
  TextTable table({{"stage", Align::left}, {"samples/s", Align::right}});
  table.add({"日本語の段階" + std::string(100, 'x') + " = live", "1,234,567"});
  table.add({"crop", "1"});
  const std::string text = table.to_text(TextPaint(false), 40);
  CHECK(widest_line(text) == 40);
  CHECK(text.find("1,234,567") != std::string::npos);
  CHECK(text.find(" = live") != std::string::npos);
  CHECK(widest_line(table.to_text(TextPaint(false))) > 100);
}

TEST_CASE("bars show eighths where the characters allow it") {
  CHECK(TextPaint(false).bar(0.5, 10) == "#####");
  CHECK(TextPaint(false).bar(-1, 10).empty());
  CHECK(TextPaint(false).bar(7, 3) == "###");
  const TextPaint unicode(false, Charset::unicode);
  CHECK(unicode.bar(0.5, 3) == "█▌");
  CHECK(unicode.bar(1, 3) == "███");
  CHECK(unicode.bar(0, 3).empty());
}
