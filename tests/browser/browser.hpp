// Pages in headless Chromium: what it shows, what its console says, and what axe-core finds.
#pragma once

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "support/command.hpp"
#include "support/lacking.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace cachebisect::test {

inline constexpr const char* kLight = "--blink-settings=preferredColorScheme=1";
inline constexpr const char* kDark = "--blink-settings=preferredColorScheme=0";

inline CommandResult chromium(const TemporaryFolder& folder,
                              const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"timeout",
                                 "100",
                                 CACHEBISECT_CHROMIUM,
                                 "--headless=new",
                                 "--no-sandbox",
                                 "--disable-gpu",
                                 "--disable-dev-shm-usage",
                                 "--hide-scrollbars",
                                 "--user-data-dir=" + folder.path("profile"),
                                 "--enable-logging=stderr",
                                 "--allow-file-access-from-files"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run(words);
}

inline std::optional<std::string> try_browser() {
  const TemporaryFolder folder;
  const CommandResult result = chromium(folder, {"--dump-dom", "data:text/html,<p>ready</p>"});
  if (result.exit_code == 0 && has(result.out, "ready")) return std::nullopt;
  return "a Chromium that starts: exit code " + std::to_string(result.exit_code) + "\n" +
         result.err;
}

/// Why Chromium does not start here, as where a sandbox refuses it what it needs.
inline const std::optional<std::string>& lacking_browser() {
  static const std::optional<std::string> lacking = try_browser();
  return lacking;
}

/// What scripts and policies reported.
inline std::vector<std::string> console_lines(const std::string& log) {
  std::vector<std::string> lines;
  std::istringstream all(log);
  for (std::string line; std::getline(all, line);) {
    if (has(line, "CONSOLE")) lines.push_back(line);
  }
  return lines;
}

/// axe-core, which scripts install from PyPI; empty if it is not there.
inline std::string accessibility_checker() {
  namespace fs = std::filesystem;
  const fs::path folder = CACHEBISECT_SOURCE_DIR "/build/venv/lib";
  std::error_code ignored;
  for (const auto& python : fs::directory_iterator(folder, ignored)) {
    const fs::path script = python.path() / "site-packages/axe_core_python/axe.min.js";
    if (fs::exists(script)) return read_file(script.string());
  }
  return {};
}

/// A page with each of the others in a frame of each width, which writes down what it sees there.
inline std::string frames(const std::vector<std::string>& pages) {
  std::string html = "<!DOCTYPE html><title>frames</title><body>";
  for (const std::string& page : pages) {
    for (const char* const width : {"375", "1280"}) {
      html += "<iframe src='" + page + ".html' width=" + width +
              " height=800 style='border:0' data-page=" + page + "></iframe>";
    }
  }
  return html + R"(<script>
addEventListener('load', () => {
  const seen = Array.from(document.querySelectorAll('iframe')).map((frame) => {
    const page = frame.contentDocument;
    const root = page.documentElement;
    const drawn = Array.from(page.querySelectorAll('canvas')).map((canvas) => canvas.width > 0 &&
        canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(Boolean));
    page.querySelectorAll('details').forEach((details) => { details.open = true; });
    return {page: frame.dataset.page, width: frame.contentWindow.innerWidth,
            scroll_width: root.scrollWidth, title: page.title,
            cut: Array.from(page.querySelectorAll('.scroll'))
                .filter((region) => region.scrollWidth > region.clientWidth)
                .map((region) => region.getAttribute('aria-label')),
            images: page.querySelectorAll('img').length, drawn,
            choices: page.querySelectorAll('.choices input').length,
            background: frame.contentWindow.getComputedStyle(page.body).backgroundColor};
  });
  const results = document.createElement('script');
  results.type = 'application/json';
  results.id = 'seen';
  results.textContent = JSON.stringify(seen).replace(/</g, '\\u003c');
  document.body.append(results);
});
</script></body>)";
}

/// What frames() wrote down.
inline nlohmann::json seen(const std::string& dom) {
  const std::string start = "id=\"seen\">";
  const std::size_t at = dom.find(start);
  REQUIRE(at != std::string::npos);
  const std::size_t from = at + start.size();
  return nlohmann::json::parse(dom.substr(from, dom.find("</script>", from) - from));
}

struct HtmlPage {
  std::string name;
  std::string html;
};

/// What frames() sees of the pages in each width.
inline nlohmann::json load(const TemporaryFolder& folder, const std::vector<HtmlPage>& pages,
                           const char* scheme) {
  std::vector<std::string> names;
  for (const HtmlPage& page : pages) {
    folder.write(page.name + ".html", page.html);
    names.push_back(page.name);
  }
  const std::string harness = folder.write("frames.html", frames(names));
  const CommandResult result =
      chromium(folder, {scheme, "--dump-dom", "--virtual-time-budget=20000", "file://" + harness});
  CHECK(result.exit_code == 0);
  CHECK(console_lines(result.err) == std::vector<std::string>{});
  return seen(result.out);
}

/// Each page fits, on a desk with all of its tables; it draws its charts and has nothing injected.
inline void check_seen(const nlohmann::json& pages) {
  for (const nlohmann::json& page : pages) {
    CAPTURE(page["page"]);
    CAPTURE(page["width"]);
    CHECK(page["scroll_width"] <= page["width"]);
    if (page["width"] == 1280) CHECK(page["cut"] == nlohmann::json::array());
    CHECK(page["images"] == 0);
    CHECK(page["title"] != "injected");
    for (const nlohmann::json& drawn : page["drawn"]) CHECK(drawn == true);
  }
}

/// What axe-core finds in a page in both colour schemes: nothing.
inline void check_accessible(std::string page) {
  const std::string checker = accessibility_checker();
  if (checker.empty()) {
    return skip("axe-core: build/venv/bin/pip install axe-core-python");
  }
  const TemporaryFolder folder;
  folder.write("axe.js", checker);
  // The policy of the page would refuse the file.
  page.erase(page.find("<meta http-equiv"),
             page.find("<meta name=\"viewport") - page.find("<meta http-equiv"));
  page.insert(page.rfind("</body>"), R"(<script src="axe.js"></script><script>
for (const details of document.querySelectorAll('details')) details.open = true;
axe.run({resultTypes: ['violations']}).then((found) => {
  const seen = document.createElement('script');
  seen.type = 'application/json';
  seen.id = 'seen';
  seen.textContent = JSON.stringify(found.violations.map((v) => v.id + ' ' + v.nodes[0].target));
  document.body.append(seen);
});
</script>)");
  const std::string file = folder.write("page.html", page);
  for (const char* const scheme : {kLight, kDark}) {
    const CommandResult result =
        chromium(folder, {scheme, "--dump-dom", "--virtual-time-budget=20000", "file://" + file});
    CHECK(seen(result.out) == nlohmann::json::array());
  }
}

}  // namespace cachebisect::test
