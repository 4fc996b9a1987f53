// The page of a report in a browser.
#include <string>
#include <vector>

#include "browser/browser.hpp"
#include "golden/page_report.hpp"
#include <doctest/doctest.h>

#include "cachebisect/report/writers.hpp"

using namespace cachebisect;
using namespace cachebisect::test;
using nlohmann::json;

namespace {

bool has_charts() { return has(to_html(full_report()), "<canvas"); }

std::size_t sheets(const std::string& pdf) {
  std::size_t found = 0;
  for (std::size_t at = pdf.find("/Type /Page"); at != std::string::npos;
       at = pdf.find("/Type /Page", at + 1)) {
    if (pdf[at + 11] != 's') ++found;
  }
  return found;
}

}  // namespace

TEST_CASE("every page fits a phone and a desk, draws its charts, and has nothing injected") {
  if (const auto lacking = lacking_browser()) return skip(*lacking);
  const TemporaryFolder folder;
  const json pages = load(folder,
                          {{"full", to_html(full_report())},
                           {"wide", to_html(wide_report())},
                           {"hostile", to_html(hostile_page_report())},
                           {"empty", to_html(empty_report())},
                           {"unmeasured", to_html(unmeasured_report())},
                           {"ranks", to_html(ranks_report())}},
                          kLight);
  REQUIRE(pages.size() == 12);
  check_seen(pages);
  CHECK(pages[0]["width"] == 375);
  CHECK(pages[1]["width"] == 1280);
  if (has_charts()) {
    CHECK(pages[0]["drawn"].size() == 4);
    CHECK(pages[0]["choices"] == 5);
  }
}

TEST_CASE("the page follows the browser's colour scheme") {
  if (const auto lacking = lacking_browser()) return skip(*lacking);
  const TemporaryFolder light;
  const TemporaryFolder dark;
  const json in_light = load(light, {{"full", to_html(full_report())}}, kLight);
  const json in_dark = load(dark, {{"full", to_html(full_report())}}, kDark);
  CHECK(in_light[0]["background"] == "rgb(255, 255, 255)");
  CHECK(in_dark[0]["background"] != in_light[0]["background"]);
}

TEST_CASE("axe-core finds nothing that keeps people from reading the page") {
  if (const auto lacking = lacking_browser()) return skip(*lacking);
  check_accessible(to_html(full_report()));
}

TEST_CASE("the page prints on two sheets of paper") {
  if (const auto lacking = lacking_browser()) return skip(*lacking);
  const TemporaryFolder folder;
  const std::string page = folder.write("full.html", to_html(full_report()));
  const std::string pdf = folder.path("full.pdf");
  const CommandResult result = chromium(
      folder, {kDark, "--no-pdf-header-footer", "--print-to-pdf=" + pdf, "file://" + page});
  CHECK(result.exit_code == 0);
  CHECK(console_lines(result.err) == std::vector<std::string>{});
  const std::size_t count = sheets(read_file(pdf));
  CHECK(count >= 1);
  CHECK(count <= 2);
}
