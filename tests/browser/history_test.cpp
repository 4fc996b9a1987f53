// The page of a history in a browser.
#include "cachebisect/history/history.hpp"

#include <string>

#include "browser/browser.hpp"
#include "golden/history_runs.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using namespace cachebisect::test;
using nlohmann::json;

namespace {

std::string page_of(const std::string& lines) {
  return history_html(read_history(lines, "h.jsonl"), {});
}

}  // namespace

TEST_CASE(
    "the page of a history fits a phone and a desk, draws its trend, and has nothing injected") {
  if (const auto lacking = lacking_browser()) return skip(*lacking);
  const std::string trend = page_of(slowing_runs(30));
  for (const char* const scheme : {kLight, kDark}) {
    const TemporaryFolder folder;
    const json pages = load(folder,
                            {{"trend", trend},
                             {"one", page_of(slowing_runs(1))},
                             {"long", page_of(slowing_runs(1000))},
                             {"hostile", page_of(hostile_runs(3) + "{<img src=x>\n")},
                             {"none", page_of("")}},
                            scheme);
    REQUIRE(pages.size() == 10);
    check_seen(pages);
    CHECK(pages[0]["drawn"].size() == (trend.find("<canvas") == std::string::npos ? 0 : 1));
  }
}

TEST_CASE("axe-core finds nothing that keeps people from reading the page of a history") {
  if (const auto lacking = lacking_browser()) return skip(*lacking);
  check_accessible(page_of(slowing_runs(5)));
}
