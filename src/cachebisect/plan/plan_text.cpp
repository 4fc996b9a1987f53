#include <cmath>
#include <vector>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/printable.hpp"
#include "cachebisect/format/figure_text.hpp"
#include "cachebisect/format/text_layout.hpp"
#include "cachebisect/format/text_page.hpp"
#include "cachebisect/plan/plan_writers.hpp"

namespace cachebisect::plan {
namespace {

std::string rate_text(const Estimate& rate) {
  if (!rate.value) return "-";
  const std::string value = format_rate(*rate.value, rate.interval);
  return rate.interval ? value + " (" + rate_interval(*rate.interval, " to ") + ")" : value;
}

std::vector<std::string> cells_of(const Row& row, bool priced) {
  std::vector<std::string> cells{
      printable(row.machine.name),
      format_number(row.machine.cores_each()),
      std::to_string(row.workers),
      rate_text(row.rate),
      percent(row.share()),
      printable(row.limit),
      format_number(std::ceil(row.cores_for_ceiling * 10) / 10),
      row.storage_for_ceiling ? format_bytes(*row.storage_for_ceiling) + "/s" : "-"};
  if (priced) {
    cells.push_back(row.price_per_million ? format_fixed(*row.price_per_million, 3) : "-");
  }
  return cells;
}

TextTable table_of(const Plan& plan) {
  const bool priced = plan.cheapest.has_value();
  std::vector<TextTable::Column> columns{{"machine"},
                                         {"cores", Align::right},
                                         {"workers", Align::right},
                                         {"samples/s", Align::right},
                                         {"ceiling", Align::right},
                                         {"limit"},
                                         {"needs cores", Align::right},
                                         {"storage", Align::right}};
  if (priced) columns.push_back({"price", Align::right});
  TextTable table(columns);
  for (const Row& row : plan.rows) table.add(cells_of(row, priced));
  return table;
}

std::string choices(const Plan& plan) {
  std::string text;
  if (plan.smallest) {
    text += "Fewest cores that reach " + percent(kEnough) +
            " of the ceiling: " + printable(plan.rows[*plan.smallest].machine.name) + ". ";
  } else {
    text += "None of them reaches " + percent(kEnough) + " of its ceiling. ";
  }
  if (plan.cheapest) {
    text += "Cheapest per sample: " + printable(plan.rows[*plan.cheapest].machine.name) + ". ";
  }
  return text;
}

}  // namespace

std::string to_text(const Plan& plan, const TextOptions& options) {
  const TextPage page(options);
  std::string text = page.paint.bold(printable(plan.name)) + "  measured on " +
                     format_number(plan.cores) + " cores: " + rate_text(plan.live) +
                     " samples/s\n\n" + table_of(plan).to_text(page.paint, page.columns) + '\n';
  const auto say = [&](const std::string& sentence) { text += wrap(sentence, page.prose, 0); };
  say(choices(plan));
  say("Cores and workers: for one accelerator. Samples/s: of the whole machine, predicted; share "
      "of "
      "its ceiling, the training step alone. Needs: what that ceiling takes of cores and storage." +
      std::string(plan.cheapest ? " Price: of a million samples." : ""));
  say("Speeds are taken as they are given. Memory bandwidth, and accelerators that wait for each "
      "other, are no part of it. An interval that reaches far down: this run cannot tell whether a "
      "stage waits for what more workers would share; measure with more workers.");
  if (plan.trains_on_host) {
    say("The measured job trains on the CPU: its step is not made faster by more cores here.");
  }
  return text;
}

}  // namespace cachebisect::plan
