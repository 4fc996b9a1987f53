// A document built once, as each renderer shows it.
#include <string>

#include "support/text.hpp"
#include "support/text_width.hpp"
#include <doctest/doctest.h>

#include "cachebisect/format/document/render.hpp"
#include "cachebisect/format/document/tiles.hpp"

using namespace cachebisect;
using namespace cachebisect::document;
using test::has;
using test::widest_line;
using test::without_colors;

namespace {

const std::string kHostileText = "a|b`<script>_x_\x1b[31m\nn\xff**";

Table rates(const std::string& name) {
  return {.columns = {{"stage"}, {"samples/s", Align::right}},
          .rows = {{name, "1,000"}, {"copy", "-"}},
          .caption = "Rates",
          .note = "Reading takes long."};
}

template <class... Blocks>
Document document_of(Blocks... blocks) {
  Document all;
  (all.add(std::move(blocks)), ...);
  return all;
}

}  // namespace

TEST_CASE("a table is the same on a terminal, as Markdown and as HTML") {
  const Document document = document_of(rates("read"));
  CHECK(to_text(document, {}) ==
        "stage  samples/s\nread       1,000\ncopy           -\n(Reading takes long.)\n");
  CHECK(
      to_markdown(document) ==
      "| stage | samples/s |\n|---|--:|\n| read | 1,000 |\n| copy | - |\n\nReading takes long.\n");
  const std::string page = to_html(document).source();
  CHECK(has(page, "<caption>Rates</caption>"));
  CHECK(has(page, "<th scope=\"col\" class=\"left\">Stage</th>"));
  CHECK(has(page, "<th scope=\"col\" class=\"right\">Samples/s</th>"));
  CHECK(has(page, "<th scope=\"row\" class=\"left\">read</th><td class=\"right\">1,000</td>"));
  CHECK(has(page, "<span class=\"none\">not measured</span>"));
  CHECK(has(page, "<p class=\"note\">Reading takes long.</p>"));
}

TEST_CASE("figures that are seen first are tiles on a page, and a list elsewhere") {
  const Document document =
      document_of(Tiles{{rate_tile("Live", {4950, Interval{4900, 5000}}),
                         share_tile("Lost", {0.41, Interval{0.38, 0.44}}, "of the ceiling"),
                         rate_tile("Ceiling", {4950, std::nullopt}),
                         {"Fix first", named("read")}}});
  CHECK(to_text(document, {}) ==
        "Live       4,950 samples/s (4,900 - 5,000)\n"
        "Lost       41% of the ceiling (38-44%)\n"
        "Ceiling    too few rounds\n"
        "Fix first  read\n");
  CHECK(to_markdown(document) ==
        "- **Live**: 4,950 samples/s (4,900 - 5,000)\n- **Lost**: 41% of the ceiling (38-44%)\n"
        "- **Ceiling**: too few rounds\n- **Fix first**: read\n");
  CHECK(to_html(document_of(Tiles{{{"Lost", "41%", "of the ceiling"}}})).source() ==
        "<dl class=\"tiles\"><div class=\"tile\"><dt>Lost</dt><dd><strong>41%</strong>"
        "<span class=\"note\">of the ceiling</span></dd></div></dl>");
  CHECK(has(to_html(document).source(), "<strong><bdi class=\"name\">read</bdi></strong>"));
}

TEST_CASE("nothing is shown of blocks without content, nor of the gaps around them") {
  Document document =
      document_of(Heading{}, Gap{}, Table{.columns = {{"stage"}}, .note = "No rows."}, Gap{},
                  Paragraph{}, List{}, Tiles{}, Code{});
  document.section("Empty", document);
  CHECK(document.empty());
  CHECK(to_text(document, {}) == "");
  CHECK(to_markdown(document) == "");
  CHECK(to_html(document).empty());
  document.say("one");
  document.gap();
  document.gap();
  document.say("two");
  document.gap();
  CHECK_FALSE(document.empty());
  CHECK(to_text(document, {}) == "one\n\ntwo\n");
  CHECK(to_markdown(document) == "one\n\ntwo\n");
  CHECK(to_html(document).source() == "<p>one</p><p>two</p>");
}

TEST_CASE("no text acts as an escape sequence, a line break or markup") {
  Document document =
      document_of(Heading{kHostileText, 2, {kHostileText}},
                  Paragraph{strong(kHostileText) + ": " + kHostileText}, rates(kHostileText),
                  List{{{kHostileText}}}, List{{{kHostileText, kHostileText}}},
                  Code{{kHostileText}}, Tiles{{{kHostileText, kHostileText, kHostileText}}});
  for (const bool color : {false, true}) {
    const std::string text = to_text(document, {.color = color, .columns = 200});
    CHECK_FALSE(has(text, "\x1b[31m"));
    CHECK_FALSE(has(text, "\xff"));
    CHECK(has(text, "_x_\\x1b[31m\\nn\\xff**"));
  }
  const std::string markdown = to_markdown(document);
  CHECK(has(markdown, "| a\\|b\\`\\<script\\>\\_x\\_\\\\x1b\\[31m n\\\\xff\\*\\* |"));
  CHECK(has(markdown, "- a\\|b\\`\\<script\\>"));
  CHECK(has(markdown, "## a\\|b\\`\\<script\\>"));
  CHECK(has(markdown, "```\na|b`<script>_x_\\x1b[31m\\nn\\xff**\n```\n"));
  const std::string page = to_html(document).source();
  CHECK_FALSE(has(page, "<script"));
  CHECK_FALSE(has(page, "\x1b"));
  CHECK(has(page, "a|b`&lt;script&gt;_x_\\x1b[31m\\nn\\xff**"));
}

TEST_CASE("only what begins a line is escaped as such in Markdown") {
  CHECK(to_markdown(document_of(Paragraph{"+ 1"})) == "\\+ 1\n");
  CHECK(to_markdown(document_of(Paragraph{strong("loss") + ": 1"})) == "**loss**: 1\n");
  CHECK(to_markdown(document_of(List{{{"1. one"}, {"two", "term"}}})) ==
        "- 1\\. one\n- **term**: two\n");
  CHECK(to_markdown(document_of(List{{{"one"}, {"two"}}, true})) == "1. one\n2. two\n");
}

TEST_CASE("a fence is longer than any row of backticks in it") {
  CHECK(to_markdown(document_of(Code{{"x", "````"}, "sh"})) == "`````sh\nx\n````\n`````\n");
}

TEST_CASE("marks are colours on a terminal, asterisks in Markdown and elements on a page") {
  const Document document = document_of(Paragraph{warning("note") + ": " + strong("all") + "."});
  const std::string text = to_text(document, {.color = true});
  CHECK(has(text, "\x1b[1mall\x1b[0m."));
  CHECK(without_colors(text) == "note: all.\n");
  CHECK(to_markdown(document) == "**note**: **all**.\n");
  CHECK(to_html(document).source() == "<p><strong>note</strong>: <strong>all</strong>.</p>");
}

TEST_CASE("names and what is copied are elements of a page, and plain words elsewhere") {
  const Document document = document_of(
      Table{.columns = {{"stage"}, {"so"}},
            .rows = {{named("read") + below_it("read.folder"), "slow: " + to_copy("--fast")},
                     {named("<b>"), below_it("") + to_copy("")}}});
  CHECK(to_text(document, {}) == "stage             so\nread read.folder  slow: --fast\n<b>\n");
  CHECK(to_markdown(document) ==
        "| stage | so |\n|---|---|\n| read read.folder | slow: --fast |\n| \\<b\\> |  |\n");
  CHECK(to_markdown(document_of(Paragraph{named("read") + below_it("+ a")})) == "read + a\n");
  const std::string page = to_html(document).source();
  CHECK(has(page,
            "<bdi class=\"name\">read</bdi><br>"
            "<span class=\"note\"><bdi class=\"name\">read.folder</bdi></span>"));
  CHECK(has(page, "slow: <div class=\"copyable\"><code>--fast</code><button "));
  CHECK(has(page, "<bdi class=\"name\">&lt;b&gt;</bdi></th><td class=\"left\"></td>"));
}

TEST_CASE("lines are as long as the terminal is wide, also with wide characters") {
  Document document;
  document.say("日本語日本語 日本語日本語", 2);
  document.add(List{{{"one two three four"}, {"five"}}, true});
  document.add(List{{{"one two three", "first"}, {"four", "次"}}});
  const std::string text = to_text(document, {.columns = 14});
  CHECK(widest_line(text) <= 14);
  CHECK(has(text, "日本語日本語\n  日本語日本語\n"));
  CHECK(has(text, "1. one two\n   three four\n2. five\n"));
  CHECK(has(text, "first  one two\n       three\n次     four\n"));
}

TEST_CASE("a remark is dimmed on a page") {
  const Document document = document_of(Paragraph{.text = "One of 2.", .remark = true});
  CHECK(to_text(document, {}) == "One of 2.\n");
  CHECK(to_markdown(document) == "One of 2.\n");
  CHECK(to_html(document).source() == "<p class=\"note\">One of 2.</p>");
}

TEST_CASE("texts of long terms stand below them") {
  const Document document = document_of(List{{{"What is lost.", "loss: 41% of the ceiling"}}});
  CHECK(to_text(document, {}) == "loss: 41% of the ceiling\n  What is lost.\n");
  CHECK(to_markdown(document) == "- **loss: 41% of the ceiling**: What is lost.\n");
  CHECK(has(to_html(document).source(), "<dt>loss: 41% of the ceiling</dt><dd>What is lost.</dd>"));
}

TEST_CASE("a heading is one line with its details if that fits") {
  const Document document = document_of(Heading{"photos", 2, {"photos.json", "(generated)"}});
  CHECK(to_text(document, {}) == "photos  photos.json  (generated)\n");
  CHECK(to_text(document, {.columns = 20}) == "photos\n  photos.json\n  (generated)\n");
  CHECK(to_markdown(document) == "## photos\n\nphotos.json, (generated)\n");
  CHECK(to_html(document).source() ==
        "<h2>photos</h2><p class=\"note\">photos.json</p><p class=\"note\">(generated)</p>");
}

TEST_CASE("tables are clipped to the terminal, numbers last") {
  const Document document =
      document_of(Table{.columns = {{"stage", Align::left, true}, {"rate", Align::right}},
                        .rows = {{"+ read images.from.a.folder = live", "1,000"}}});
  CHECK(to_text(document, {.columns = 24}) ==
        "stage               rate\n+ read = live      1,000\n");
  CHECK(has(to_text(document, {.columns = 100}), "+ read images.from.a.folder = live"));
}

TEST_CASE("bars are drawn on a terminal alone, and shrink before a text is clipped") {
  const Document document = document_of(
      Table{.columns = {{"stage"}, {.title = "", .bars = 10}, {.title = "note", .bars = 10}},
            .rows = {{"read", bar(0.5), loss_bar(1) + "slow"}, {"copy", bar(0), "fast"}}});
  CHECK(to_text(document, {}) == "stage\nread   #####  ########## slow\ncopy          fast\n");
  CHECK(to_text(document, {.columns = 25}) ==
        "stage\nread   ####  ####### slow\ncopy         fast\n");
  CHECK(to_markdown(document) == "| stage | note |\n|---|---|\n| read | slow |\n| copy | fast |\n");
  CHECK_FALSE(has(to_html(document).source(), "##"));
}

TEST_CASE("a column may stand below its rows on a terminal") {
  const Document document = document_of(
      Table{.columns = {{"change"}, {"rate", Align::right}, {.title = "so", .below = true}},
            .rows = {{"workers=4", "1,992", "gains 99%"}, {"x", "1", ""}}});
  CHECK(to_text(document, {}) ==
        "change      rate\nworkers=4  1,992\n    gains 99%\nx              1\n");
  CHECK(to_markdown(document) ==
        "| change | rate | so |\n|---|--:|---|\n| workers=4 | 1,992 | gains 99% |\n| x | 1 |  |\n");
}

TEST_CASE("a column may stand below its rows where the table is wider than the terminal") {
  const Document document = document_of(
      Table{.columns = {{"stage"}, {"bytes", Align::right}, {.title = "so", .may_be_below = true}},
            .rows = {{"read", "8", "image uint8"}, {"copy", "9", ""}}});
  CHECK(to_text(document, {.columns = 25}) ==
        "stage  bytes  so\nread       8  image uint8\ncopy       9\n");
  CHECK(to_text(document, {.columns = 24}) ==
        "stage  bytes\nread       8\n    image uint8\ncopy       9\n");
}

TEST_CASE("words leave a table that is wider than the terminal, bars stay") {
  const Document document = document_of(
      Table{.columns = {{"stage"}, {.title = "note", .sentence = "The copy reaches", .bars = 4}},
            .rows = {{"copy", loss_bar(0.5) + "35% of 25 GB/s"}, {"read", loss_bar(1)}}});
  CHECK(to_text(document, {}) == "stage\ncopy   ## 35% of 25 GB/s\nread   ####\n");
  CHECK(to_text(document, {.columns = 22}) ==
        "stage\ncopy   ##\nread   ####\n(The copy reaches 35%\n of 25 GB/s.)\n");
}

TEST_CASE("lines to be copied may stand below an item") {
  const Document document = document_of(
      List{{{"one", "", {"--workers 4", "--pin"}}, {"two"}}, true}, List{{{"x", "", {"y"}}}});
  CHECK(to_text(document, {}) == "1. one\n   --workers 4\n   --pin\n2. two\nx\n    y\n");
  CHECK(to_markdown(document) ==
        "1. one\n\n   ```\n   --workers 4\n   --pin\n   ```\n2. two\n\n"
        "- x\n\n   ```\n   y\n   ```\n");
  CHECK(has(to_html(document).source(),
            "<li>one<pre tabindex=\"0\">--workers 4\n--pin\n</pre></li>"));
}

TEST_CASE("the ends of an interval are joined as the terminal can show it") {
  const Document document = document_of(Paragraph{Text("1") + dash() + "2"});
  CHECK(to_text(document, {}) == "1 - 2\n");
  CHECK(to_text(document, {.unicode = true}) == "1 – 2\n");
  CHECK(to_markdown(document) == "1 - 2\n");
}

TEST_CASE("commands to be copied are never wrapped") {
  const Document document = document_of(Code{{"cachebisect --pipeline file.json", "next"}});
  CHECK(to_text(document, {.columns = 20}) == "  cachebisect --pipeline file.json\n  next\n");
}

TEST_CASE("charts are on pages alone") {
  const Document document =
      document_of(Chart{"shares", 2, "Bar chart <of> parts", R"(["</script>"])"});
  CHECK(to_text(document, {}) == "");
  CHECK(to_markdown(document) == "");
  const std::string page = to_html(document).source();
  CHECK((page.empty() || has(page, "aria-label=\"Bar chart &lt;of&gt; parts\"")));
  CHECK_FALSE(has(page, "\"</script>\""));
}
