#include "shell/live_picture.hpp"

#include <algorithm>
#include <iostream>
#include <optional>
#include <utility>

#include "cachebisect/base/clock.hpp"
#include "cachebisect/base/number_format.hpp"
#include "cachebisect/format/text_layout.hpp"

namespace cachebisect::cli {
namespace {

constexpr double kFrameSeconds = 0.1;
constexpr int kBarColumns = 30;
constexpr std::size_t kLabelColumns = 26;

std::string padded(const std::string& text, std::size_t columns) {
  const std::size_t width = display_width(text);
  return width < columns ? text + std::string(columns - width, ' ') : text;
}

}  // namespace

LivePicture::LivePicture(std::vector<std::string> stages, const TextOptions& text, bool enabled)
    : stages_(std::move(stages)), text_(text), enabled_(enabled), rates_(stages_.size() + 1) {}

LivePicture::~LivePicture() { clear(); }

void LivePicture::show(const Progress& progress) {
  now_ = progress;
  draw();
}

void LivePicture::show(const Report& report) {
  for (const BoundaryReport& boundary : report.boundaries) {
    const auto k = static_cast<std::size_t>(boundary.index);
    if (k < rates_.size() && boundary.seconds_per_sample) {
      rates_[k] = 1 / *boundary.seconds_per_sample;
    }
  }
}

std::string LivePicture::row(int boundary, double fastest) const {
  const TextPaint paint(text_.color, text_.unicode ? Charset::unicode : Charset::ascii);
  const auto k = static_cast<std::size_t>(boundary);
  const bool now = now_.arm.kind == ArmKind::replay && now_.arm.boundary == boundary;
  const std::string label =
      boundary == 0 ? "nothing cached (live)" : "cached after " + stages_[k - 1];
  std::string line = (now ? "> " : "  ") + padded(clipped(label, kLabelColumns), kLabelColumns);
  if (rates_[k] <= 0) return line;
  line += "  " + padded(paint.bar(rates_[k] / fastest, kBarColumns), kBarColumns) + "  " +
          format_rate(rates_[k], std::nullopt) + " samples/s";
  return now ? paint.bold(line) : line;
}

std::vector<std::string> LivePicture::lines() const {
  std::vector<std::string> all;
  std::string chain;
  for (const std::string& stage : stages_) chain += stage + " > ";
  all.push_back(chain + "step");
  const double fastest = std::max(1e-9, *std::ranges::max_element(rates_));
  for (int k = 0; k < static_cast<int>(rates_.size()); ++k) all.push_back(row(k, fastest));
  const bool rounds = now_.phase == "measure";
  all.push_back((rounds ? "round " + std::to_string(now_.round + 1) : now_.phase) +
                (now_.best.empty() ? "" : ": " + now_.best));
  return all;
}

void LivePicture::draw() {
  const double now = monotonic_seconds();
  if (!enabled_ || now - last_seconds_ < kFrameSeconds) return;
  last_seconds_ = now;
  std::string frame = drawn_ > 0 ? "\x1b[" + std::to_string(drawn_) + "A" : "";
  const std::vector<std::string> all = lines();
  // The cursor needs the last column.
  const auto columns = static_cast<std::size_t>(text_.columns - 1);
  for (const std::string& line : all) frame += "\r\x1b[K" + clipped(line, columns) + "\n";
  std::cerr << frame << std::flush;
  drawn_ = all.size();
}

void LivePicture::clear() {
  if (drawn_ > 0) std::cerr << "\x1b[" + std::to_string(drawn_) + "A\r\x1b[J" << std::flush;
  drawn_ = 0;
}

}  // namespace cachebisect::cli
