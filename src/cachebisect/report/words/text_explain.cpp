#include "cachebisect/report/words/text_explain.hpp"

#include "cachebisect/report/words/explained_numbers.hpp"

namespace cachebisect {

std::string explain_text(const Report& report, const TextPaint& paint, int columns) {
  std::string text = paint.bold("What the numbers mean") + "\n";
  for (const ExplainedNumber& number : explain_numbers(report)) {
    text += wrap(paint.bold(number.number), columns, 2);
    text += wrap("  " + number.meaning, columns, 2);
  }
  const std::string missing = explain_missing(report);
  if (!missing.empty()) text += wrap(missing, columns, 0);
  return text;
}

}  // namespace cachebisect
