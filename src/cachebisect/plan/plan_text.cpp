#include <cmath>
#include <vector>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/format/document/render.hpp"
#include "cachebisect/format/figure_text.hpp"
#include "cachebisect/plan/plan_writers.hpp"

namespace cachebisect::plan {
namespace {

std::string rate_text(const Estimate& rate) {
  if (!rate.value) return "-";
  const std::string value = format_rate(*rate.value, rate.interval);
  return rate.interval ? value + " (" + rate_interval(*rate.interval, " to ") + ")" : value;
}

document::Row cells_of(const Row& row, bool priced) {
  document::Row cells{
      row.machine.name,
      format_number(row.machine.cores_each()),
      std::to_string(row.workers),
      rate_text(row.rate),
      percent(row.share()),
      row.limit,
      format_number(std::ceil(row.cores_for_ceiling * 10) / 10),
      row.storage_for_ceiling ? format_bytes(*row.storage_for_ceiling) + "/s" : "-"};
  if (priced) {
    cells.emplace_back(row.price_per_million ? format_fixed(*row.price_per_million, 3) : "-");
  }
  return cells;
}

document::Table table_of(const Plan& plan) {
  const bool priced = plan.cheapest.has_value();
  document::Table table{.columns = {{"machine"},
                                    {"cores", Align::right},
                                    {"workers", Align::right},
                                    {"samples/s", Align::right},
                                    {"ceiling", Align::right},
                                    {"limit"},
                                    {"needs cores", Align::right},
                                    {"storage", Align::right}}};
  if (priced) table.columns.push_back({"price", Align::right});
  for (const Row& row : plan.rows) table.rows.push_back(cells_of(row, priced));
  return table;
}

std::string choices(const Plan& plan) {
  std::string text;
  if (plan.smallest) {
    text += "Fewest cores that reach " + percent(kEnough) +
            " of the ceiling: " + plan.rows[*plan.smallest].machine.name + ". ";
  } else {
    text += "None of them reaches " + percent(kEnough) + " of its ceiling. ";
  }
  if (plan.cheapest) {
    text += "Cheapest per sample: " + plan.rows[*plan.cheapest].machine.name + ". ";
  }
  return text;
}

}  // namespace

std::string to_text(const Plan& plan, const TextOptions& options) {
  Document all;
  all.add(document::Heading{plan.name,
                            2,
                            {"measured on " + format_number(plan.cores) +
                             " cores: " + rate_text(plan.live) + " samples/s"}});
  all.gap();
  all.add(table_of(plan));
  all.gap();
  all.say(choices(plan));
  all.say(
      "Cores and workers: for one accelerator. Samples/s: of the whole machine, predicted; share "
      "of "
      "its ceiling, the training step alone. Needs: what that ceiling takes of cores and storage." +
      std::string(plan.cheapest ? " Price: of a million samples." : ""));
  all.say(
      "Speeds are taken as they are given. Memory bandwidth, and accelerators that wait for each "
      "other, are no part of it. An interval that reaches far down: this run cannot tell whether a "
      "stage waits for what more workers would share; measure with more workers.");
  if (plan.trains_on_host) {
    all.say("The measured job trains on the CPU: its step is not made faster by more cores here.");
  }
  return to_text(all, options);
}

}  // namespace cachebisect::plan
