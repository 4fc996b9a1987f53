#include "cachebisect/report/words/remedy_text.hpp"

#include <optional>

#include "cachebisect/base/number_format.hpp"

namespace cachebisect {
namespace {

std::string gain(const std::optional<double>& rate, const char* how) {
  return rate ? format_rate(*rate, std::nullopt) + " samples/s (" + how + ")" : "";
}

}  // namespace

std::string remedy_gain(const Remedy& remedy) {
  const std::string predicted = gain(remedy.predicted, "predicted");
  const std::string measured = gain(remedy.measured, "measured");
  if (predicted.empty() && measured.empty()) return "";
  return "gains " + predicted + (predicted.empty() || measured.empty() ? "" : ", ") + measured;
}

std::string edit_text(const Edit& edit) {
  if (edit.kind == EditKind::remove) return "in the file: remove " + edit.path;
  if (edit.kind == EditKind::insert && edit.path.ends_with("/-")) {
    return "in the file: append to " + edit.path.substr(0, edit.path.size() - 2) + ": " +
           edit.value;
  }
  if (edit.kind == EditKind::insert) {
    return "in the file: insert at " + edit.path + ": " + edit.value;
  }
  return "in the file: " + edit.path + " = " + edit.value;
}

}  // namespace cachebisect
