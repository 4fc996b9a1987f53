#include "terminal.hpp"

#include <cmath>
#include <cstdlib>
#include <iostream>

#include <unistd.h>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/error.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/printable.hpp"

namespace cachebisect::cli {
namespace {

constexpr double kRedrawSeconds = 0.1;

std::string whole_seconds(double seconds) {
  return std::to_string(std::lround(std::ceil(seconds))) + " s";
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

}  // namespace

bool use_color(const std::string& choice, int file_descriptor) {
  if (choice == "always") return true;
  if (choice == "never") return false;
  if (choice != "auto")
    throw Error(ErrorKind::usage, "--color " + choice + ": auto, always or never");
  const char* const no_color = std::getenv("NO_COLOR");
  return (no_color == nullptr || *no_color == '\0') && isatty(file_descriptor) != 0;
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
  constexpr std::size_t kColumns = 79;
  const double now = monotonic_seconds();
  if (now - last_seconds_ < kRedrawSeconds) return;
  last_seconds_ = now;
  std::cerr << "\r\x1b[K" << printable(line).substr(0, kColumns) << std::flush;
  shown_ = true;
}

void ProgressLine::clear() {
  if (shown_) std::cerr << "\r\x1b[K" << std::flush;
  shown_ = false;
}

}  // namespace cachebisect::cli
