#include "cachebisect/format/picture/gnuplot_words.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "cachebisect/base/printable.hpp"
#include "cachebisect/base/utf8.hpp"

namespace cachebisect::gnuplot {
namespace {

constexpr std::array<std::string_view, 8> kPalette{"#0072B2", "#E69F00", "#009E73", "#CC79A7",
                                                   "#56B4E9", "#D55E00", "#F0E442", "#999999"};
constexpr std::string_view kCut = "...";

/// The first `columns` characters of well-formed UTF-8.
std::string cut(const std::string& text, std::size_t columns) {
  std::size_t end = 0;
  std::size_t kept = 0;  // where the text would end to leave room for the dots
  for (std::size_t count = 0; end < text.size(); ++count) {
    if (count + kCut.size() == columns) kept = end;
    if (count == columns) return text.substr(0, kept) + std::string(kCut);
    end += utf8_length(text, end);
  }
  return text;
}

}  // namespace

std::string in_quotes(std::string_view text, std::size_t max_columns) {
  // Within single quotes gnuplot knows no escapes, substitutions or markup.
  std::string out = "'";
  for (const char c : cut(printable(text), max_columns)) out += c == '\'' ? "''" : std::string{c};
  return out + "'";
}

std::string tic_label(std::string_view text, std::size_t max_columns) {
  std::string out;
  for (const char c : in_quotes(text, max_columns)) out += c == '%' ? "%%" : std::string{c};
  return out;
}

std::string number(double value) {
  constexpr int kDigits = 9;
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 std::chars_format::general, kDigits);
  return {text.data(), end.ptr};
}

std::string color(int index) {
  const auto place = static_cast<std::size_t>(index) % kPalette.size();
  return "rgb '" + std::string(kPalette[place]) + "'";
}

int color_of(const Series& series, std::size_t position) {
  return series.color.value_or(static_cast<int>(position));
}

std::string page(const Caption& caption) {
  return "set encoding utf8\n"
         "set terminal pngcairo noenhanced size 1200,675 font 'sans,14' background rgb '#ffffff'\n"
         "set label 1 " +
         in_quotes(caption.title, 80) +
         " at screen 0.035,0.935 left font 'sans:Bold,20' textcolor rgb '#1a1a1a'\n"
         "set label 2 " +
         in_quotes(caption.subtitle, 120) +
         " at screen 0.035,0.875 left font 'sans,14' textcolor rgb '#5a5a5a'\n";
}

std::string axes(const Caption& caption, const AxesStyle& style) {
  return std::string("set lmargin at screen 0.105\nset rmargin at screen ") +
         (style.with_level_names ? "0.845" : "0.965") +
         "\nset bmargin at screen 0.125\nset tmargin at screen 0.765\n"
         "set border 3 lc rgb '#8a8a8a'\n"
         "set tics nomirror out scale 0.5 textcolor rgb '#333333'\n"
         "set grid ytics lt 1 lc rgb '#e4e4e4' lw 1\n"
         "set xlabel " +
         in_quotes(caption.x_label) + " textcolor rgb '#333333'\nset label 3 " +
         in_quotes(caption.y_label, 50) +
         " at screen 0.022, graph 0.5 center rotate by 90 textcolor rgb '#333333'\n" +
         (style.with_key ? "set key at screen 0.965,0.805 right bottom horizontal Left reverse "
                           "samplen 1.5 width 1 textcolor rgb '#333333'\n"
                         : "set key off\n");
}

std::string log_axis(char axis, double low, double high) {
  constexpr double kShort = 2.5;  // decades
  const std::string name(1, axis);
  std::string text = "set logscale " + name + "\nset " + name + "range [" + number(low) + ":" +
                     number(high) + "]\n";
  if (std::log10(high / low) > kShort) return text;
  std::string tics;
  for (double power = std::pow(10, std::floor(std::log10(low))); power <= high; power *= 10) {
    for (const double factor : {1, 2, 5}) {
      tics += (tics.empty() ? "" : ", ") + number(factor * power);
    }
  }
  return text + "set " + name + "tics (" + tics + ")\n";
}

}  // namespace cachebisect::gnuplot
