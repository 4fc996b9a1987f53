#include "cachebisect/format/html/document.hpp"

#include <string>

#include "cachebisect/format/html/chart.hpp"

namespace cachebisect {

extern const char* const page_style;  // generated from page.css

namespace html {

Html document_start(std::string_view name, std::string_view kind, std::string_view skip) {
  const std::string title = name.empty() ? "cachebisect" : std::string(name);
  const Html head = element(
      "head",
      Html::ours("\n<meta charset=\"utf-8\">\n"
                 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
                 "'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src "
                 "data:\">\n"
                 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                 "<meta name=\"color-scheme\" content=\"light dark\">\n") +
          element("title", text(title, kMaxNameCharacters) + text(" - ") + text(kind)) +
          Html::ours("\n<style>\n" + std::string(page_style) + "</style>\n"));
  return Html::ours("<!DOCTYPE html>\n<html lang=\"en\">\n") + head + Html::ours("\n<body>\n") +
         element("a", {{"class", "skip"}, {"href", "#main"}}, text(skip)) + Html::ours("\n");
}

Html document_header(std::string_view kind, const Html& name, const Html& more) {
  return element("header",
                 element("p", {{"class", "tool"}}, text(kind)) + element("h1", name) + more) +
         Html::ours("\n");
}

Html document_main(const Html& content) {
  return element("main", {{"id", "main"}, {"tabindex", "-1"}}, content) + Html::ours("\n");
}

Html document_end() {
  return Html::ours("<p id=\"status\" class=\"unseen\" role=\"status\"></p>\n") + chart_scripts() +
         Html::ours("</body>\n</html>\n");
}

}  // namespace html
}  // namespace cachebisect
