// The page: which parts it has, in which order, and what it says of figures that are missing. How a
// browser shows it: tests/browser.
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "golden/page_report.hpp"
#include "support/golden.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/report/writers.hpp"

using namespace cachebisect;
using namespace cachebisect::test;
using nlohmann::json;

namespace {

constexpr std::size_t kMaxBytes = 600'000;

std::string without_tags(const std::string& html) {
  return std::regex_replace(html, std::regex("<[^>]*>"), "");
}

/// What lies between the body's tags, without scripts.
std::string body_of(const std::string& page) {
  std::string body = page.substr(page.find("<body>"));
  for (std::size_t at = body.find("<script"); at != std::string::npos; at = body.find("<script")) {
    body.erase(at, body.find("</script>", at) + 9 - at);
  }
  return body;
}

/// Headings, captions and rows of tables, a line each.
std::string outline(const std::string& page) {
  const std::string body = body_of(page);
  const std::regex wanted("<(h1|h2|h3|caption|tr)[^>]*>(.*?)</\\1>");
  std::string lines;
  for (std::sregex_iterator found(body.begin(), body.end(), wanted), end; found != end; ++found) {
    const std::string tag = (*found)[1];
    const std::string cells =
        std::regex_replace((*found)[2].str(), std::regex("</t[hd]><t[hd][^>]*>|<br>"), " | ");
    const std::string indent = tag == "h1" ? "" : tag == "h2" ? "  " : "    ";
    lines += wrap(indent + (tag[0] == 'h' ? tag + " " : "") + without_tags(cells), 80, 8);
  }
  return lines;
}

/// The element with this id, up to the end of its script.
json embedded(const std::string& page) {
  const std::string start = "id=\"report\">";
  const std::size_t at = page.find(start) + start.size();
  return json::parse(page.substr(at, page.find("</script>", at) - at));
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

json written(const Report& report) {
  std::ostringstream out;
  write_json(report, out);
  return json::parse(out.str());
}

}  // namespace

TEST_CASE("the page of a certified drop has the golden outline") {
  check_golden("page.txt", outline(to_html(full_report())));
}

TEST_CASE("the page loads nothing and says so to the browser") {
  const std::string page = to_html(full_report());
  CHECK(has(page, "default-src 'none'"));
  const std::string body = body_of(page);
  CHECK_FALSE(has(body, " src="));
  CHECK_FALSE(has(body, "http"));
  const std::regex link("href=\"([^\"]*)\"");
  for (std::sregex_iterator found(body.begin(), body.end(), link), end; found != end; ++found) {
    CHECK((*found)[1].str().starts_with("#"));
  }
}

TEST_CASE("the JSON inside is the JSON report") {
  const Report report = full_report();
  CHECK(embedded(to_html(report)) == written(report));
  const Report hostile = hostile_page_report();
  CHECK(embedded(to_html(hostile)) == written(hostile));
}

TEST_CASE("names inject nothing") {
  const std::string plain = to_html(sample_report());
  const std::string page = to_html(hostile_page_report());
  CHECK(count(page, "<script") == count(plain, "<script"));
  CHECK(count(page, "</script") == count(plain, "</script"));
  CHECK_FALSE(has(body_of(page), "<img"));
  CHECK_FALSE(has(page, "\x1b"));
  CHECK_FALSE(has(page, "\xff"));
}

TEST_CASE("a page stays small: blocks are the first to be left out of its JSON") {
  const std::string page = to_html(long_report(1500));
  CHECK(page.size() <= kMaxBytes);
  CHECK(has(page, "Without &quot;blocks&quot;"));
  CHECK_FALSE(embedded(page).contains("blocks"));
  CHECK(embedded(page)["verdict"]["stage"] == "decode");
  CHECK(to_html(hostile_page_report()).size() <= kMaxBytes);
  const std::string hours = to_html(long_report(20'000));
  CHECK(hours.size() <= kMaxBytes);
  CHECK(has(hours, "Of every 6 blocks of an arm one is drawn."));
}

TEST_CASE("stages that were measured together have one row with their figures") {
  const std::string page = to_html(spanned_report());
  const std::string lines = outline(page);
  CHECK(count(lines, "stages 1-2 together | 60%") == 1);
  CHECK(count(without_tags(page), "stages 1-2 together: lose 60%") == 2);  // in both boxes
  CHECK(count(page, "largest drop</span>") == 2);
}

TEST_CASE("figures that were not measured say so") {
  const std::string text = without_tags(body_of(to_html(unmeasured_report())));
  CHECK(has(text, "not measured"));
  CHECK(has(text, "too few rounds"));
  CHECK_FALSE(has(text, "nan"));
  CHECK_FALSE(has(text, "inf"));
}

TEST_CASE("a figure without an interval is not shown") {
  Report report = sample_report();
  report.live = report.boundaries.front().samples_per_second = {987, std::nullopt};
  report.loss.total = {0.777, std::nullopt};
  const std::string body = body_of(to_html(report));
  const std::string text = without_tags(body.substr(0, body.find("id=\"glossary\"")));
  CHECK(has(text, "too few rounds"));
  CHECK_FALSE(has(text, "987"));
  CHECK_FALSE(has(text, "78%"));
}

TEST_CASE("a report of nothing is a page") {
  const std::string text = without_tags(body_of(to_html(empty_report())));
  CHECK(has(text, "interrupted"));
  CHECK(has(text, "No verdict was reached."));
  CHECK_FALSE(has(to_html(empty_report()), "id=\"flow\""));
}

TEST_CASE("edits can be copied as JSON Patch") {
  Report report = sample_report();
  report.remedies[0].edits = {{"/stages/2", "null", EditKind::remove},
                              {"/stages/1", R"({"use":"cache.disk"})", EditKind::insert},
                              {"/stages/4/prefetch", "2"},
                              {"/stages/0", R"({"use":"read.other"})"},
                              {"/stages/-", R"({"use":"device.normalize"})", EditKind::insert}};
  const std::string page = to_html(report);
  CHECK(has(page, "{&quot;op&quot;:&quot;remove&quot;,&quot;path&quot;:&quot;/stages/2&quot;}"));
  CHECK(has(page,
            "{&quot;op&quot;:&quot;add&quot;,&quot;path&quot;:&quot;/stages/-&quot;,"
            "&quot;value&quot;:{&quot;use&quot;:&quot;device.normalize&quot;}}"));
  CHECK(has(page, "&quot;add&quot;,&quot;path&quot;:&quot;/stages/1&quot;"));
  CHECK(has(page, "&quot;add&quot;,&quot;path&quot;:&quot;/stages/4/prefetch&quot;"));
  CHECK(has(page, "&quot;replace&quot;,&quot;path&quot;:&quot;/stages/0&quot;"));
  CHECK(has(to_text(report), "insert at /stages/1"));
}

TEST_CASE("the rank that the others wait for is named") {
  const std::string text = without_tags(body_of(to_html(ranks_report())));
  CHECK(has(text, "The others wait for rank 1."));
  CHECK(has(text, "2 ranks"));
}
