#include "shell/terminal.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/number_parse.hpp"
#include "cachebisect/base/printable.hpp"
#include "cachebisect/format/text_layout.hpp"

namespace cachebisect::cli {
namespace {

constexpr double kRedrawSeconds = 0.1;

/// The value of an environment variable; empty if it is not set.
std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::string whole_seconds(double seconds) {
  return std::to_string(std::lround(std::ceil(seconds))) + " s";
}

}  // namespace

bool use_color(const std::string& choice, int file_descriptor) {
  if (choice == "always") return true;
  if (choice == "never") return false;
  if (choice != "auto")
    throw Error(ErrorKind::usage, "--color " + choice + ": auto, always or never");
  const bool unwanted = !variable("NO_COLOR").empty() || variable("TERM") == "dumb";
  return !unwanted && isatty(file_descriptor) != 0;
}

bool use_unicode() {
  for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string locale(variable(name));
    if (locale.empty()) continue;
    std::ranges::transform(locale, locale.begin(), [](unsigned char c) { return std::tolower(c); });
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return false;
}

int terminal_columns(int file_descriptor) {
  constexpr int kDefault = 80;
  constexpr int kLeast = 60;
  constexpr int kMost = 200;
  winsize size{};
  int columns = parse_number<int>(variable("COLUMNS")).value_or(0);
  if (columns <= 0 && ioctl(file_descriptor, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
  return columns <= 0 ? kDefault : std::clamp(columns, kLeast, kMost);
}

TextOptions text_options(const std::string& color, int file_descriptor) {
  return {.color = use_color(color, file_descriptor),
          .columns = terminal_columns(file_descriptor),
          .unicode = use_unicode()};
}

std::string describe(const Progress& progress) {
  std::string line = progress.phase;
  if (progress.phase == "measure") line = "round " + std::to_string(progress.round + 1);
  line += progress.arm.kind == ArmKind::replay
              ? ", boundary " + std::to_string(progress.arm.boundary)
              : std::string(", ") + to_string(progress.arm.kind);
  if (!progress.best.empty()) line += ", " + progress.best;
  const double left = progress.budget_seconds - progress.elapsed_seconds;
  if (left > 0) line += ", at most " + whole_seconds(left) + " left";
  return line;
}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::show(const Progress& progress) {
  if (first_budget_ == 0) first_budget_ = progress.budget_seconds;
  if (progress.budget_seconds > first_budget_ && !grown_) {
    clear();
    std::cerr << "steps are slow: the budget grows to " << whole_seconds(progress.budget_seconds)
              << "; --budget N sets it\n";
    grown_ = true;
  }
  if (!enabled_) return;
  if (progress.expected_seconds && !announced_) {
    clear();
    std::cerr << "a certified 20% drop needs about " << whole_seconds(*progress.expected_seconds)
              << " here; --budget " << format_exact(progress.budget_seconds) << '\n';
    announced_ = true;
  }
  draw(describe(progress));
}

void ProgressLine::show(const std::string& line) {
  if (enabled_) draw(line);
}

void ProgressLine::draw(const std::string& line) {
  const double now = monotonic_seconds();
  if (now - last_seconds_ < kRedrawSeconds) return;
  last_seconds_ = now;
  // The cursor needs the last one.
  const auto columns = static_cast<std::size_t>(terminal_columns(STDERR_FILENO) - 1);
  std::cerr << "\r\x1b[K" << clipped(printable(line), columns) << std::flush;
  shown_ = true;
}

void ProgressLine::clear() {
  if (shown_) std::cerr << "\r\x1b[K" << std::flush;
  shown_ = false;
}

}  // namespace cachebisect::cli
