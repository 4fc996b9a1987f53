// Pictures: the script that gnuplot gets, and what it draws of it.
#include <cmath>
#include <cstdint>
#include <string>

#include "support/text.hpp"
#include <doctest/doctest.h>

#include "cachebisect/format/picture/draw_png.hpp"
#include "cachebisect/format/picture/gnuplot_script.hpp"

using namespace cachebisect;
using test::has;

namespace {

/// Names that would act, if gnuplot saw them outside of a literal or with its markup.
const std::vector<std::string> kHostile{"it's",
                                        "`touch /tmp/x`",
                                        "\"; system('id')",
                                        "a\nexit\nb",
                                        "back\\slash\\",
                                        "{/Bold x}_1^2 &{y} @z",
                                        "\x01\x02\xff",
                                        "END",
                                        std::string(10000, 'n'),
                                        "</script>",
                                        "%s %n $x"};

std::uint32_t number_at(const std::string& bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    number = number << 8U | static_cast<unsigned char>(bytes.at(i));
  }
  return number;
}

/// Draws it, if this machine has gnuplot.
void check_png(const Picture& picture) {
  static const bool can_draw = can_draw_png();
  if (!can_draw) {
    MESSAGE("skipped: no gnuplot (scripts/setup installs it)");
    return;
  }
  const std::string png = draw_png(picture);
  CHECK(png.starts_with("\x89PNG\r\n\x1a\n"));
  CHECK(png.ends_with(std::string("IEND\xae\x42\x60\x82")));
  CHECK(number_at(png, 16) == 1200);
  CHECK(number_at(png, 20) == 675);
}

}  // namespace

TEST_CASE("bars are stacked on one another, in the order of the series") {
  BarChart chart{.caption = {"title", "subtitle", "x", "y"},
                 .series = {{"a", {1, 2}}, {"b", {3, NAN}}, {"c", {5, 6}}}};
  const std::string stacked = gnuplot_script(chart);
  CHECK(has(stacked, "$data1 << END\n1 1 0.57 1.43 1 4 \nEND\n"));
  CHECK(has(stacked, "$data2 << END\n1 4 0.57 1.43 4 9 \n2 2 1.57 2.43 2 8 \nEND\n"));
  chart.stacked = false;
  CHECK(has(gnuplot_script(chart), " 0 5 \n"));
  check_png(chart);
}

TEST_CASE("logarithmic bars all begin below the smallest value") {
  BarChart chart{.caption = {"title", "", "x", "y"},
                 .series = {{"a", {1, 2000}}},
                 .categories = {"one", "two"},
                 .y_scale = Scale::log};
  CHECK(has(gnuplot_script(chart), "set yrange [0.1:2600]"));
  CHECK(has(gnuplot_script(chart), "set xtics ('one' 1, 'two' 2)"));
  check_png(chart);
}

TEST_CASE("lines have gaps, levels and logarithmic axes") {
  LineChart chart{.caption = {"title", "", "x", "y"},
                  .x = {16, 32, 64},
                  .series = {{"a", {1, NAN, 3}}},
                  .levels = {{"median", 2}}};
  CHECK(has(gnuplot_script(chart), "16 1\n\n64 3\n"));
  CHECK(has(gnuplot_script(chart), "'median' at graph"));
  check_png(chart);
  chart.x_scale = chart.y_scale = Scale::log;
  CHECK(has(gnuplot_script(chart), "set xtics (16, 32, 64)"));
  CHECK(has(gnuplot_script(chart), "set yrange [0.8:3.75]"));
  check_png(chart);
}

TEST_CASE("slices go clockwise from the top, and the legend has them all") {
  const PieChart chart{{"title", ""}, {{"half", 2, "2 ms"}, {"rest", 2, "2 ms"}, {"none", 0, "-"}}};
  const std::string script = gnuplot_script(chart);
  CHECK(has(script, "arc [-90:90]"));
  CHECK(has(script, "arc [-270:-90]"));
  CHECK(has(script, "'none'"));
  CHECK_FALSE(has(script, "object 3 circle"));
  check_png(chart);
}

TEST_CASE("charts without data are empty pictures") {
  check_png(BarChart{});
  check_png(LineChart{});
  check_png(PieChart{});
  check_png(BarChart{.series = {{"a", {NAN, INFINITY}}}, .y_scale = Scale::log});
}

TEST_CASE("no text acts on gnuplot") {
  for (const std::string& text : kHostile) {
    CAPTURE(text.substr(0, 40));
    const Caption caption{text, text, text, text};
    const BarChart bars{caption, {{text, {1}}, {text, {2}}}, true, {text}};
    const std::string script = gnuplot_script(bars);
    CHECK(script.size() < 6000);
    CHECK_FALSE(has(script, "\nexit"));
    check_png(bars);
    CHECK_FALSE(has(gnuplot_script(LineChart{caption, {1}, {{text, {1}}}, {{text, 1}}}), "\nexit"));
    CHECK_FALSE(has(gnuplot_script(PieChart{caption, {{text, 1, text}}}), "\nexit"));
  }
  const std::string quoted = gnuplot_script(PieChart{{"it's `x` \\"}, {}});
  CHECK(has(quoted, "set label 1 'it''s `x` \\' at screen"));
}
