#include "output/comparison_output.hpp"

#include <sstream>

#include "cachebisect/base/error.hpp"
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
  if (!json_to_stdout_ && !json.empty()) outputs_.add(json, json_text);
}

void ComparisonOutput::write(const Comparison& comparison,
                             const std::function<void()>& before_streams) {
  const auto text = [&] {
    if (json_to_stdout_) return json_text(comparison);
    return markdown_ ? to_markdown(comparison) : to_text(comparison, text_);
  };
  outputs_.write(comparison, {.text = text}, before_streams);
}

void ComparisonOutput::discard() const noexcept { outputs_.discard(); }

}  // namespace cachebisect::cli
