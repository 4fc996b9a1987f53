#include "cachebisect/format/html/tiles.hpp"

#include <string>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/format/figure_text.hpp"
#include "cachebisect/format/html/figures.hpp"

namespace cachebisect::html {
namespace {

bool is_missing(const std::string& figure) {
  return figure == kNotMeasured || figure == kTooFewRounds;
}

}  // namespace

Html tile(std::string_view term, const Html& figure, std::string_view detail) {
  return element(
      "div", {{"class", "tile"}},
      element("dt", term) + element("dd", element("strong", figure) +
                                              element("span", {{"class", "note"}}, text(detail))));
}

Html rate_tile(std::string_view term, const Estimate& rate) {
  const std::string whole = rate_figure(rate);
  if (is_missing(whole)) return tile(term, text(whole));
  return tile(term, text(format_rate(*rate.value, rate.interval)),
              "samples/s (" + rate_interval(*rate.interval) + ")");
}

Html share_tile(std::string_view term, const Estimate& share, std::string_view of) {
  const std::string whole = share_figure(share);
  if (is_missing(whole)) return tile(term, text(whole));
  return tile(term, text(format_percent(*share.value)),
              std::string(of) + " (" + format_percent_interval(*share.interval) + ")");
}

Html tiles(const Html& all) { return element("dl", {{"class", "tiles"}}, all); }

}  // namespace cachebisect::html
