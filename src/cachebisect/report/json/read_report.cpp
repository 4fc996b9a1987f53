#include "cachebisect/report/json/read_report.hpp"

#include <cstddef>

#include <nlohmann/json.hpp>

#include "cachebisect/base/json_text.hpp"
#include "cachebisect/base/text_file.hpp"
#include "cachebisect/report/json/read_parts.hpp"

namespace cachebisect {
namespace {

using namespace read_parts;

constexpr JsonLimits kReportLimits{.max_bytes = std::size_t{32} << 20U,
                                   .document = "a report of cachebisect"};
/// Far more than any chain has: what reads a report may take a time that grows with its square.
constexpr std::size_t kMaxStages = 1000;

Timing timing(const JsonValue& value) {
  return {.prepare_seconds = value["prepare_seconds"].amount_or_zero(),
          .cache_seconds = value["cache_seconds"].amount_or_zero(),
          .measure_seconds = value["measure_seconds"].amount_or_zero(),
          .explain_seconds = value["explain_seconds"].amount_or_zero(),
          .sustain_seconds = value["sustain_seconds"].amount_or_zero(),
          .verdict_seconds = value["verdict_seconds"].amount_or_zero(),
          .wall_seconds = value["wall_seconds"].amount_or_zero(),
          .first_batch_seconds = value["first_batch_seconds"].optional_number(),
          .epoch_start_seconds = value["epoch_start_seconds"].optional_number()};
}

double confidence(const JsonValue& value) {
  const double share = value.number_or(BisectSettings{}.confidence);
  if (!(share > 0 && share < 1)) value.refuse("must be a share between 0 and 1");
  return share;
}

BisectSettings settings(const JsonValue& value) {
  const BisectSettings usual;
  return {.confidence = confidence(value["confidence"]),
          .min_drop = value["min_drop"].number_or(usual.min_drop),
          .budget_seconds = value["budget_seconds"].number_or(usual.budget_seconds),
          .io = value["io"].text_or_empty(),
          .seed = value["seed"].count_or(usual.seed),
          .order_nonce = value["order_nonce"].optional_count()};
}

void read_cache(const JsonValue& value, Report& report) {
  CacheFacts& facts = report.cache;
  facts.samples = value["samples"].count_or(0);
  facts.bytes_host = value["bytes_host"].amount_or_zero();
  facts.bytes_device = value["bytes_device"].amount_or_zero();
  facts.limited_by = value["limited_by"].text_or_empty();
  facts.idle_workers = value["idle_workers"].whole_or(0);
  report.k2k_change = value["k2k_change"].optional_number();
  report.resident_share = value["resident_share"].optional_number();
}

std::optional<Needed> needed(const JsonValue& value) {
  if (value.is_null()) return std::nullopt;
  return Needed{.rounds = value["rounds"].whole_or(0), .seconds = value["seconds"].number_or(0)};
}

Verdict verdict(const JsonValue& value) {
  return {.kind = value["kind"].one_of(kVerdictKinds),
          .stage = value["stage"].text_or_empty(),
          .stage_index = value["stage_index"].whole_or(0),
          .rank = value["rank"].optional_whole(),
          .drop = figure(value, "drop", "drop_interval"),
          .span = value["span"].text_or_empty(),
          .tied_with = value["tied_with"].texts(),
          .shares = value["shares"].texts(),
          .fix_first = value["fix_first"].text_or_empty(),
          .detectable_drop = value["detectable_drop"].optional_number(),
          .rounds = value["rounds"].whole_or(0),
          .certified_after_seconds = value["certified_after_seconds"].optional_number(),
          .needed = needed(value["needed"]),
          .text = value["text"].text_or_empty()};
}

std::optional<SustainedReport> sustained(const JsonValue& value) {
  if (value.is_null()) return std::nullopt;
  return SustainedReport{.samples_per_second = rate(value),
                         .seconds = value["seconds"].amount_or_zero()};
}

std::optional<Cost> cost(const JsonValue& value) {
  if (value.is_null()) return std::nullopt;
  const double per_hour = value["per_hour"].number();
  if (!(per_hour > 0)) value["per_hour"].refuse("must be greater than 0");
  return Cost{.per_hour = per_hour, .lost_per_hour = estimate(value, "lost_per_hour")};
}

void read_figures(const JsonValue& document, Report& report) {
  report.overhead = estimate(document["overhead"], "share");
  report.ceiling = rate(document["ceiling"]);
  report.ceiling_sustained = sustained(document["ceiling"]["sustained"]);
  const JsonValue live = document["live"];
  report.live = rate(live);
  report.live_sustained = sustained(live["sustained"]);
  report.live_loop = {.starved_share = live["starved_share"].optional_number(),
                      .ready_batches = live["ready_batches"].optional_number()};
  const JsonValue loss = document["loss"];
  report.loss = {.total = figure(loss, "total", "interval"),
                 .starvation = figure(loss, "starvation", "starvation_interval"),
                 .contention = figure(loss, "contention", "contention_interval")};
  report.cost = cost(document["cost"]);
  report.next_stage = document["next"]["stage"].text_or_empty();
  report.next_samples_per_second = document["next"]["samples_per_second"].optional_number();
}

template <class Part>
std::vector<Part> list(const JsonValue& values, Part (*read)(const JsonValue&)) {
  std::vector<Part> all;
  for (const JsonValue& value : values.items()) all.push_back(read(value));
  return all;
}

RankReport rank(const JsonValue& value) {
  return {.rank = value["rank"].whole_or(0), .payoff = rate(value["payoff"])};
}

/// Parts are numbered by their place.
void check_indices(const JsonValue& values, std::int64_t first) {
  for (const JsonValue& value : values.items()) {
    (void)value["index"].whole(first, first);
    ++first;
  }
}

void describe_stages(Report& report) {
  for (const StageReport& part : report.stages) {
    StageDescription description;
    description.name = part.name;
    description.type = part.type;
    description.category = part.category;
    description.random = part.random;
    description.cacheable = part.cacheable;
    description.output_bytes = part.output_bytes;
    report.chain.stages.push_back(std::move(description));
  }
}

void read_chain_parts(const JsonValue& document, Report& report) {
  report.stages = list(document["stages"], stage);
  report.boundaries = list(document["boundaries"], boundary);
  if (report.stages.size() > kMaxStages) {
    document["stages"].refuse("must have at most " + std::to_string(kMaxStages) + " entries");
  }
  const std::size_t expected = report.boundaries.empty() ? 0 : report.stages.size() + 1;
  if (report.boundaries.size() != expected) {
    document["boundaries"].refuse("must have one entry more than /stages");
  }
  check_indices(document["stages"], 1);
  check_indices(document["boundaries"], 0);
  const int stages = static_cast<int>(report.stages.size());
  (void)document["verdict"]["stage_index"].whole_or(0, 0, stages);
  for (const JsonValue& value : document["spans"].items()) {
    report.spans.push_back(span(value, stages));
  }
  describe_stages(report);
}

void read_blocks(const JsonValue& values, Report& report) {
  const int stages = static_cast<int>(report.stages.size());
  for (const JsonValue& value : values.items()) report.blocks.push_back(block(value, stages));
}

}  // namespace

Report read_report(std::string_view text, const std::string& origin) {
  const nlohmann::json parsed = read_json(text, origin, kReportLimits);
  const JsonValue document(parsed, origin);
  check_schema_version(document);
  Report report;
  report.command = document["command"].text_or_empty();
  report.started = document["started"].text_or_empty();
  report.interrupted = document["interrupted"].flag_or(false);
  report.timing = timing(document["timing"]);
  report.machine = machine(document["machine"]);
  report.chain = chain(document["device"], document["pipeline"]);
  const JsonValue skipped = document["pipeline"]["skipped"];
  report.skipped = skipped["count"].count_or(0);
  report.first_skipped = skipped["first"].texts();
  report.settings = settings(document["settings"]);
  read_cache(document["cache"], report);
  report.verdict = verdict(document["verdict"]);
  read_figures(document, report);
  read_chain_parts(document, report);
  report.ranks = list(document["ranks"], rank);
  report.remedies = list(document["remedies"], remedy);
  report.what_ifs = list(document["what_ifs"], what_if);
  report.step_functions = list(document["step_functions"], step_function);
  report.warnings = list(document["warnings"], warning);
  read_blocks(document["blocks"], report);
  return report;
}

Report load_report(const std::string& file) {
  return read_report(read_text_file(file, kReportLimits.max_bytes, kReportLimits.document), file);
}

}  // namespace cachebisect
