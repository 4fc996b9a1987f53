#include "cachebisect/format/picture/draw_png.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/printable.hpp"
#include "cachebisect/format/filter_process.hpp"
#include "cachebisect/format/picture/gnuplot_script.hpp"

namespace cachebisect {
namespace {

constexpr double kMaxSeconds = 60;
constexpr std::size_t kMaxErrors = 500;  ///< bytes of what gnuplot says
constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";

std::optional<FilterResult> run_gnuplot(const std::string& script) {
  return run_filter({"gnuplot", "--default-settings", "-"}, script, kMaxSeconds);
}

bool is_png(const FilterResult& result) {
  return result.ok && result.output.starts_with(kSignature);
}

}  // namespace

bool can_draw_png() {
  const auto result = run_gnuplot("set terminal pngcairo\nplot 0\n");
  return result && is_png(*result);
}

std::string no_gnuplot_text() {
  return "pictures need gnuplot with its pngcairo terminal, which is not installed; on Debian and "
         "Ubuntu: apt-get install gnuplot-nox";
}

std::string draw_png(const Picture& picture) {
  std::optional<FilterResult> result = run_gnuplot(gnuplot_script(picture));
  if (!result) throw Error(ErrorKind::output, no_gnuplot_text());
  if (is_png(*result)) return std::move(result->output);
  if (!can_draw_png()) throw Error(ErrorKind::output, no_gnuplot_text());
  throw Error(ErrorKind::output, "gnuplot could not draw a picture: " +
                                     printable(result->errors.substr(0, kMaxErrors)));
}

}  // namespace cachebisect
