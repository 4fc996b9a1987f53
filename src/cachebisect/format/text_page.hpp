// How a text is laid out on the terminal that it is for. Internal to the writers of texts.
#pragma once

#include <algorithm>

#include "cachebisect/format/text_layout.hpp"
#include "cachebisect/format/text_options.hpp"

namespace cachebisect {

struct TextPage {
  explicit TextPage(const TextOptions& options)
      : paint(options.color, options.unicode ? Charset::unicode : Charset::ascii),
        columns(options.columns),
        prose(std::min(options.columns, kMostProse)) {}

  TextPaint paint;
  int columns;  ///< for tables
  int prose;    ///< for sentences

 private:
  static constexpr int kMostProse = 120;  ///< longer lines are hard to read
};

}  // namespace cachebisect
