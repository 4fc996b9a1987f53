// Changes that were asked about: predicted next to measured.
#include "cachebisect/format/html/elements.hpp"
#include "cachebisect/format/html/figures.hpp"
#include "cachebisect/report/html/sections.hpp"

namespace cachebisect::html {

namespace {

Html remarks(const WhatIfResult& what_if) {
  Html all = text(what_if.note);
  if (!what_if.line.empty()) all += copyable(what_if.line);
  return all;
}

}  // namespace

Html what_ifs_section(const Report& report) {
  if (report.what_ifs.empty()) return {};
  Table table("Samples/s after each change", {"Change", "Predicted", "Measured", "<Remarks"});
  for (const WhatIfResult& what_if : report.what_ifs) {
    table.add({name(what_if.change), figure(rate_figure(what_if.predicted)),
               figure(rate_figure(what_if.measured)), remarks(what_if)});
  }
  return section("what-ifs", "What if", table.html());
}

}  // namespace cachebisect::html
