// The trend of a history as a page, of the same parts as that of a report.
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "cachebisect/format/document/render.hpp"
#include "cachebisect/format/document/tiles.hpp"
#include "cachebisect/format/html/chart.hpp"
#include "cachebisect/format/html/document.hpp"
#include "cachebisect/format/html/elements.hpp"
#include "cachebisect/format/html/figures.hpp"
#include "cachebisect/format/text_layout.hpp"
#include "cachebisect/history/history_jobs.hpp"

namespace cachebisect {
namespace {

using html::Html;
using Json = nlohmann::ordered_json;

/// How much of the history a page shows: what fits.
struct Room {
  std::size_t runs = 400;  ///< of each job
  std::size_t jobs = 64;
};

constexpr std::size_t kMaxProblems = 20;

std::string counted(std::size_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

/// Figures without an interval are not drawn, as they are not shown.
Json point(const Estimate& rate) {
  return html::chart_value("", rate.interval ? rate : Estimate{}, html::rate_figure(rate));
}

/// A point per run; "change" is set where the verdict differs from that of the run before.
Json points(const HistoryJob& job) {
  Json all = Json::array();
  std::string before;
  for (const HistoryEntry* const run : job.runs) {
    const std::string finding = history_finding(*run);
    all.push_back({{"label", history_minute(run->started)},
                   {"live", point(run->live)},
                   {"ceiling", point(run->ceiling)},
                   {"verdict", history_verdict(*run)},
                   {"change", finding == before ? Json() : Json(finding)}});
    before = finding;
  }
  return all;
}

/// With intervals, for which a terminal has no room.
document::Table whole_runs_table(const HistoryJob& job) {
  document::Table table{.columns = {{"started (UTC)"},
                                    {"live", Align::right},
                                    {"ceiling", Align::right},
                                    {"lost", Align::right},
                                    {"verdict"}},
                        .caption = "Runs, oldest first; live and ceiling in samples/s"};
  for (const HistoryEntry* const run : job.runs) {
    table.rows.push_back({history_minute(run->started), html::rate_figure(run->live),
                          html::rate_figure(run->ceiling), html::share_figure(run->loss),
                          document::named(history_verdict(*run))});
  }
  return table;
}

document::Tiles last_run(const HistoryEntry& run) {
  return {{document::rate_tile("Live, last run", run.live),
           document::rate_tile("Ceiling, last run", run.ceiling),
           document::share_tile("Lost, last run", run.loss, "of the ceiling"),
           {"Verdict, last run", document::named(history_verdict(run))}}};
}

void remark(Document& page, std::string words) {
  page.add(document::Paragraph{.text = std::move(words), .remark = true});
}

/// `all` counts the runs that were asked for.
Document trend_document(const HistoryJob& job, std::size_t all) {
  Document trend;
  trend.add(last_run(*job.runs.back()));
  trend.say(as_sentence(history_change(job)));
  if (job.runs.size() < all) {
    remark(trend, "The last " + counted(job.runs.size(), "run") + " of " + std::to_string(all) +
                      "; all would make the page too large.");
  }
  trend.add(document::Chart{"trend", 10,
                            "Line chart: live and ceiling of each run, and where the verdict "
                            "changed. The table below has its figures.",
                            points(job).dump(-1, ' ', true, Json::error_handler_t::replace)});
  trend.add(whole_runs_table(job));
  return trend;
}

Html job_section(const HistoryJob& job, std::size_t number, std::size_t all) {
  return html::section("job-" + std::to_string(number), html::name(history_heading(job)),
                       to_html(trend_document(job, all)));
}

Html jobs_part(const History& history, const HistorySelection& selection, const Room& room) {
  const std::vector<HistoryJob> all = history_jobs(history.entries, selection);
  const std::size_t last = selection.last > 0 ? std::min(selection.last, room.runs) : room.runs;
  const std::vector<HistoryJob> shown =
      history_jobs(history.entries, {.last = last, .pipeline = selection.pipeline});
  Html sections;
  const std::size_t jobs = std::min(room.jobs, shown.size());
  for (std::size_t j = 0; j < jobs; ++j) {
    sections += job_section(shown[j], j + 1, all[j].runs.size());
  }
  if (jobs < shown.size()) {
    sections += html::note(counted(shown.size() - jobs, "more job") +
                           " would make the page too large; --pipeline NAME shows one.");
  }
  return sections.empty() ? html::paragraph("No runs.") : sections;
}

Html problems_section(const std::vector<std::string>& problems) {
  if (problems.empty()) return {};
  document::List list;
  const std::size_t shown = std::min(problems.size(), kMaxProblems);
  for (std::size_t p = 0; p < shown; ++p) list.items.push_back({problems[p]});
  Document lines;
  lines.add(std::move(list));
  if (shown < problems.size()) remark(lines, counted(problems.size() - shown, "more line"));
  return html::section("problems", "Lines left out", to_html(lines));
}

Html page(const History& history, const HistorySelection& selection, const Room& room) {
  constexpr const char* kKind = "cachebisect history";
  const std::string name = selection.pipeline.empty() ? "Trend" : selection.pipeline;
  return html::document_start(name, kKind, "Skip to the trend") +
         html::document_header(
             kKind, html::name(name),
             html::note("Each job (pipeline, device, batch size) by itself. Runs of different "
                        "times may differ because the machine did.")) +
         html::document_main(jobs_part(history, selection, room) +
                             problems_section(history.problems)) +
         html::document_end();
}

}  // namespace

std::string history_html(const History& history, const HistorySelection& selection) {
  Room room;
  Html whole = page(history, selection, room);
  while (whole.source().size() > html::kMaxPageBytes && room.jobs > 1) {
    (room.runs > 1 ? room.runs : room.jobs) /= 2;
    whole = page(history, selection, room);
  }
  return whole.source();
}

}  // namespace cachebisect
