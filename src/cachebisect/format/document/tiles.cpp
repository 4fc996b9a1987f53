#include "cachebisect/format/document/tiles.hpp"

#include <utility>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/format/figure_text.hpp"
#include "cachebisect/format/html/figures.hpp"

namespace cachebisect::document {
namespace {

bool is_missing(const std::string& figure) {
  return figure == html::kNotMeasured || figure == html::kTooFewRounds;
}

}  // namespace

Tile rate_tile(std::string term, const Estimate& rate) {
  const std::string whole = html::rate_figure(rate);
  if (is_missing(whole)) return {std::move(term), whole};
  return {std::move(term), format_rate(*rate.value, rate.interval),
          "samples/s (" + rate_interval(*rate.interval) + ")"};
}

Tile share_tile(std::string term, const Estimate& share, std::string_view of) {
  const std::string whole = html::share_figure(share);
  if (is_missing(whole)) return {std::move(term), whole};
  return {std::move(term), format_percent(*share.value),
          std::string(of) + " (" + format_percent_interval(*share.interval) + ")"};
}

}  // namespace cachebisect::document
