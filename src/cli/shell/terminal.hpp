// Colour, characters and width of the terminal, and the progress line.
#pragma once

#include <string>

#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/format/text_options.hpp"

namespace cachebisect::cli {

/// "auto": colour on a terminal unless NO_COLOR is set. Throws Error(usage) unless `choice` is
/// auto, always or never.
bool use_color(const std::string& choice, int file_descriptor);
/// Whether the locale's characters are UTF-8, by LC_ALL, LC_CTYPE and LANG in this order.
bool use_unicode();
/// The columns of the terminal, or 80 for anything else; COLUMNS in the environment comes first.
/// From 60 to 200.
int terminal_columns(int file_descriptor);
/// All three, for the report. Throws as use_color().
TextOptions text_options(const std::string& color, int file_descriptor);

/// "round 12, boundary 3, crop: 41%, at most 8 s left".
std::string describe(const Progress& progress);

/// One line on standard error, rewritten in place; only on a terminal. That the budget grows is
/// said on any standard error.
class ProgressLine {
 public:
  explicit ProgressLine(bool enabled) : enabled_(enabled) {}
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const Progress& progress);
  /// Any other text: what takes long before anything is measured.
  void show(const std::string& line);
  void clear();

 private:
  void draw(const std::string& line);

  bool enabled_;
  bool shown_ = false;
  bool announced_ = false;
  bool grown_ = false;
  double first_budget_ = 0;  ///< seconds; the budget may grow
  double last_seconds_ = -1;
};

}  // namespace cachebisect::cli
