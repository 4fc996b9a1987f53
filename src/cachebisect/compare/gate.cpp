#include "cachebisect/compare/gate.hpp"

#include <algorithm>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/names.hpp"
#include "cachebisect/base/number_parse.hpp"
#include "cachebisect/base/printable.hpp"
#include "cachebisect/compare/change_text.hpp"

namespace cachebisect {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

[[noreturn]] void refuse(const std::string& text, const std::string& what) {
  throw Error(ErrorKind::usage, "--fail-on " + quote(text) + ": " + what +
                                    "; write for example live<-5% or stages.crop.seconds>+10%");
}

/// "-5%", "+10%", "5%".
double threshold_of(const std::string& text, std::string_view amount) {
  if (amount.starts_with('+')) amount.remove_prefix(1);
  const auto number = split_number<double>(amount);
  if (!number || trimmed(number->rest) != "%") refuse(text, "the threshold is a percentage");
  return number->value / 100;
}

const ComparedFigure& figure_of(const Gate& gate, const std::vector<ComparedFigure>& figures) {
  const auto found = std::ranges::find(figures, gate.figure, &ComparedFigure::id);
  if (found != figures.end()) return *found;
  std::vector<std::string> known;
  known.reserve(figures.size());
  for (const ComparedFigure& figure : figures) known.push_back(figure.id);
  refuse(gate.text,
         "there is no figure " + quote(gate.figure) + "; " + suggestion(gate.figure, known));
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
}

}  // namespace

Gate parse_gate(const std::string& text) {
  const std::size_t sign = text.find_last_of("<>");
  if (sign == std::string::npos) refuse(text, "a gate has < or >");
  Gate gate;
  gate.text = text;
  gate.figure = trimmed(std::string_view(text).substr(0, sign));
  gate.below = text[sign] == '<';
  gate.threshold = threshold_of(text, trimmed(std::string_view(text).substr(sign + 1)));
  if (gate.figure.empty()) refuse(text, "a gate begins with a figure");
  return gate;
}

GateResult judge_gate(const Gate& gate, const std::vector<ComparedFigure>& figures,
                      const std::vector<std::string>& noise) {
  const ComparedFigure& figure = figure_of(gate, figures);
  GateResult result{gate.text, GateOutcome::undecided, change_text(figure)};
  if (!figure.change.value || !figure.change.interval) {
    result.reason = "too few rounds for an interval";
    return result;
  }
  const Interval& change = *figure.change.interval;
  const bool beyond = gate.below ? change.high < gate.threshold : change.low > gate.threshold;
  const bool within = gate.below ? change.low >= gate.threshold : change.high <= gate.threshold;
  if (within) result.outcome = GateOutcome::passed;
  if (beyond && noise.empty()) result.outcome = GateOutcome::fired;
  if (beyond && !noise.empty()) {
    result.reason += ", but the machine was not steady (" + joined(noise) + ")";
  }
  return result;
}

}  // namespace cachebisect
