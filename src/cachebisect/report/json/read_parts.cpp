#include "cachebisect/report/json/read_parts.hpp"

#include <array>

namespace cachebisect::read_parts {
namespace {

constexpr int kSchemaVersion = 1;
constexpr std::array kHeld{Held::none, Held::host, Held::device};

}  // namespace

void check_schema_version(const JsonValue& document) {
  const JsonValue version = document["schema_version"];
  if (version.is_null()) {
    version.refuse("is missing: this is not a report (write one with --json FILE)");
  }
  if (version.number() != kSchemaVersion) {
    version.refuse("is " + version.json() + "; this cachebisect reads version " +
                   std::to_string(kSchemaVersion));
  }
}

DeviceKind device_kind(const JsonValue& value) {
  constexpr std::array kKinds{DeviceKind::cpu, DeviceKind::cuda, DeviceKind::emulated};
  return value.one_of(kKinds);
}

Estimate estimate(const JsonValue& value, std::string_view key) {
  return figure(value, key, "interval");
}

Estimate rate(const JsonValue& value) { return estimate(value, "samples_per_second"); }

Estimate figure(const JsonValue& parent, std::string_view key, std::string_view interval) {
  return {parent[key].optional_number(), parent[interval].interval()};
}

BoundaryReport boundary(const JsonValue& value) {
  BoundaryReport b;
  b.index = value["index"].whole_or(0);
  b.after = value["after"].text_or_empty();
  if (!value["held"].is_null()) b.held = value["held"].one_of(kHeld);
  b.visited = value["visited"].flag_or(false);
  b.samples_per_second = rate(value);
  b.seconds_per_sample = value["seconds_per_sample"].optional_number();
  b.serve_seconds_per_sample = value["serve_seconds_per_sample"].optional_number();
  b.predicted_samples_per_second = value["predicted_samples_per_second"].optional_number();
  b.blocks = value["blocks"].whole_or(0);
  b.item_bytes = value["item_bytes"].optional_number();
  return b;
}

StageReport stage(const JsonValue& value) {
  StageReport s;
  s.index = value["index"].whole_or(0);
  s.name = value["name"].text();
  s.type = value["type"].text_or_empty();
  s.category = category_of(s.type);
  s.random = value["random"].flag_or(false);
  s.cacheable = value["cacheable"].flag_or(true);
  s.drop = figure(value, "drop", "drop_interval");
  s.certified = value["certified"].flag_or(false);
  s.bursty = value["bursty"].flag_or(false);
  s.seconds_per_sample = value["seconds_per_sample"].optional_number();
  s.cpu_seconds_per_sample = value["cpu_seconds_per_sample"].optional_number();
  s.wait_seconds_per_sample = value["wait_seconds_per_sample"].optional_number();
  s.busy_share = value["busy_share"].optional_number();
  s.replayed_busy_ratio = estimate(value["replayed_busy_ratio"], "value");
  s.output_bytes = value["output_bytes"].optional_number();
  s.padding_share = value["padding_share"].optional_number();
  s.copy_gb_per_s = value["copy_gb_per_s"].optional_number();
  s.copy_share = value["copy_share"].optional_number();
  s.payoff = rate(value["payoff"]);
  s.span = value["span"].text_or_empty();
  return s;
}

SpanReport span(const JsonValue& value, int stages) {
  SpanReport s;
  s.name = value["name"].text_or_empty();
  s.first = static_cast<int>(value["first"].whole(1, stages));
  s.last = static_cast<int>(value["last"].whole(s.first, stages));
  s.drop = figure(value, "drop", "drop_interval");
  s.certified = value["certified"].flag_or(false);
  s.bursty = value["bursty"].flag_or(false);
  s.seconds_per_sample = value["seconds_per_sample"].optional_number();
  return s;
}

Remedy remedy(const JsonValue& value) {
  Remedy r;
  r.id = value["id"].text_or_empty();
  r.stage = value["stage"].text_or_empty();
  r.text = value["text"].text_or_empty();
  r.reason = value["reason"].text_or_empty();
  r.flags = value["flags"].texts();
  for (const JsonValue& edit : value["edits"].items()) {
    r.edits.push_back({edit["path"].text(), edit["value"].json()});
  }
  r.lines = value["lines"].texts();
  r.predicted = value["predicted"].optional_number();
  r.measured = value["measured"].optional_number();
  return r;
}

WhatIfResult what_if(const JsonValue& value) {
  WhatIfResult w;
  w.change = value["change"].text_or_empty();
  w.predicted = rate(value["predicted"]);
  w.measured = rate(value["measured"]);
  w.line = value["line"].text_or_empty();
  w.note = value["note"].text_or_empty();
  return w;
}

StepFunction step_function(const JsonValue& value) {
  return {.name = value["name"].text_or_empty(),
          .file = value["file"].text_or_empty(),
          .line = value["line"].whole_or(0),
          .share = value["share"].amount_or_zero(),
          .movable = value["movable"].flag_or(false)};
}

Warning warning(const JsonValue& value) {
  return {value["code"].text_or_empty(), value["text"].text_or_empty(),
          value["remedy"].text_or_empty(), value["details"].texts()};
}

}  // namespace cachebisect::read_parts
