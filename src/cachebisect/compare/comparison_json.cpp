// A comparison as JSON.
#include <ostream>

#include <nlohmann/json.hpp>

#include "cachebisect/base/version.hpp"
#include "cachebisect/compare/comparison_writers.hpp"
#include "cachebisect/format/json_values.hpp"

namespace cachebisect {
namespace {

using json_values::Json;
using json_values::number;
using json_values::text;

constexpr int kSchemaVersion = 1;

std::string unit_name(const ComparedFigure& figure) {
  switch (figure.unit) {
    case FigureUnit::samples_per_second:
      return "samples_per_second";
    case FigureUnit::share:
      return "share";
    case FigureUnit::seconds_per_sample:
      return "seconds_per_sample";
  }
  return "?";
}

Json estimate(const Estimate& e) {
  Json interval = nullptr;
  if (e.interval) interval = Json::array({number(e.interval->low), number(e.interval->high)});
  return {{"value", number(e.value)}, {"interval", std::move(interval)}};
}

Json figure(const ComparedFigure& f) {
  return {{"id", f.id},
          {"stage", text(f.stage)},
          {"unit", unit_name(f)},
          {"a", estimate(f.a)},
          {"b", estimate(f.b)},
          {"change", estimate(f.change)},
          {"kind", to_string(f.kind())}};
}

Json job(const ComparedJob& j) {
  return {{"source", j.source},         {"pipeline", j.pipeline}, {"device", j.device},
          {"batch_size", j.batch_size}, {"workers", j.workers},   {"started", text(j.started)},
          {"verdict", text(j.verdict)}};
}

}  // namespace

void write_json(const Comparison& comparison, std::ostream& out) {
  Json figures = Json::array();
  for (const ComparedFigure& f : comparison.figures) figures.push_back(figure(f));
  Json gates = Json::array();
  for (const GateResult& gate : comparison.gates) {
    gates.push_back(
        {{"gate", gate.gate}, {"outcome", to_string(gate.outcome)}, {"reason", gate.reason}});
  }
  const Json json = {
      {"schema_version", kSchemaVersion},
      {"tool", {{"name", "cachebisect"}, {"version", version()}, {"git", text(git_revision())}}},
      {"command", "compare"},
      {"a", job(comparison.a)},
      {"b", job(comparison.b)},
      {"paired", comparison.paired},
      {"rounds", comparison.paired ? Json(comparison.rounds) : Json(nullptr)},
      {"measure_seconds", comparison.paired ? number(comparison.seconds) : Json(nullptr)},
      {"confidence", comparison.confidence},
      {"mismatches", comparison.mismatches},
      {"notes", comparison.notes},
      {"noise", comparison.noise},
      {"figures", std::move(figures)},
      {"findings", comparison.findings},
      {"gates", std::move(gates)}};
  out << json.dump(2, ' ', true, Json::error_handler_t::replace) << '\n';
}

}  // namespace cachebisect
