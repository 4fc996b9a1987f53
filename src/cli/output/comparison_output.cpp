#include "output/comparison_output.hpp"

#include <sstream>

#include "output/answer_output.hpp"

#include "cachebisect/compare/comparison_writers.hpp"

namespace cachebisect::cli {
namespace {

std::string json_text(const Comparison& comparison) {
  std::ostringstream text;
  write_json(comparison, text);
  return text.str();
}

}  // namespace

ComparisonOutput::ComparisonOutput(const std::string& format, const TextOptions& text,
                                   const std::string& json)
    : markdown_(format == "markdown"), text_(text), json_to_stdout_(json == "-") {
  if (!markdown_ && format != "text") {
    throw Error(ErrorKind::usage, "--format " + format + ": text or markdown");
  }
  if (!json_to_stdout_ && !json.empty()) json_.emplace(json);
}

void ComparisonOutput::write(const Comparison& comparison,
                             const std::function<void()>& before_streams) {
  const std::string text = markdown_ ? to_markdown(comparison) : to_text(comparison, text_);
  const std::string json = json_ || json_to_stdout_ ? json_text(comparison) : std::string();
  write_answer(json_to_stdout_ ? json : text, {json_ ? &*json_ : nullptr, json}, before_streams);
}

void ComparisonOutput::discard() const noexcept {
  if (json_) json_->discard();
}

}  // namespace cachebisect::cli
