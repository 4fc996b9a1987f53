#include "cachebisect/compare/report_figures.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cachebisect/compare/session_means.hpp"

namespace cachebisect {
namespace {

/// Half width of every change between two sessions, relative or as a share: even on a quiet
/// machine, memory is laid out differently in each process.
constexpr double kBetweenSessions = 0.01;

std::optional<double> tau(const RoundTaus& round, int boundary) {
  const auto found = round.find(boundary);
  return found == round.end() ? std::nullopt : std::optional(found->second);
}

RoundFigure log_rate_at(int boundary) {
  return [boundary](const RoundTaus& round) -> std::optional<double> {
    const auto log_tau = tau(round, boundary);
    return log_tau ? std::optional(-*log_tau) : std::nullopt;
  };
}

/// The share of throughput lost between two boundaries.
RoundFigure drop_between(int from, int to) {
  return [=](const RoundTaus& round) -> std::optional<double> {
    const auto slow = tau(round, from);
    const auto fast = tau(round, to);
    return slow && fast ? std::optional(-std::expm1(*fast - *slow)) : std::nullopt;
  };
}

/// Seconds per sample that are added between two boundaries.
RoundFigure seconds_between(int from, int to) {
  return [=](const RoundTaus& round) -> std::optional<double> {
    const auto slow = tau(round, from);
    const auto fast = tau(round, to);
    return slow && fast ? std::optional(std::exp(*slow) - std::exp(*fast)) : std::nullopt;
  };
}

std::optional<Interval> finite(const std::optional<Interval>& interval) {
  const bool sound = interval && std::isfinite(interval->low) && std::isfinite(interval->high);
  return sound ? interval : std::nullopt;
}

Interval widened(const Interval& interval, double centre) {
  return {std::min(interval.low, centre - kBetweenSessions),
          std::max(interval.high, centre + kBetweenSessions)};
}

/// b / a - 1, or b - a.
std::optional<double> change_of(const Estimate& a, const Estimate& b, FigureUnit unit) {
  if (!a.value || !b.value) return std::nullopt;
  if (unit == FigureUnit::share) return *b.value - *a.value;
  if (!(*a.value > 0)) return std::nullopt;
  return *b.value / *a.value - 1;
}

/// The interval of a change without rounds: by the intervals that the reports state.
std::optional<Interval> stated_interval(const Estimate& a, const Estimate& b, double centre) {
  if (!a.interval || !b.interval) return std::nullopt;
  const double half_a = 0.5 * (a.interval->high - a.interval->low);
  const double half_b = 0.5 * (b.interval->high - b.interval->low);
  const double half = std::hypot(half_a, half_b);
  return Interval{centre - half, centre + half};
}

class FigureTable {
 public:
  FigureTable(const Report& a, const Report& b, double confidence)
      : a_(round_taus(a.blocks)), b_(round_taus(b.blocks)), confidence_(confidence) {}

  void add_rate(const std::string& id, const Estimate& a, const Estimate& b, int boundary_a,
                int boundary_b) {
    ComparedFigure figure = begin(id, "", FigureUnit::samples_per_second, a, b);
    const auto log = difference(log_rate_at(boundary_a), log_rate_at(boundary_b));
    if (log) finish(figure, Interval{std::expm1(log->low), std::expm1(log->high)});
    figures_.push_back(std::move(figure));
  }

  void add_share(const std::string& id, const std::string& stage, const Estimate& a,
                 const Estimate& b, const std::pair<RoundFigure, RoundFigure>& of_rounds = {}) {
    ComparedFigure figure = begin(id, stage, FigureUnit::share, a, b);
    std::optional<Interval> interval;
    if (of_rounds.first) interval = difference(of_rounds.first, of_rounds.second);
    if (!interval && figure.change.value) interval = stated_interval(a, b, *figure.change.value);
    if (interval) finish(figure, *interval);
    figures_.push_back(std::move(figure));
  }

  /// Without rounds the change has no interval.
  void add_seconds(const std::string& id, const std::string& stage, const Estimate& a,
                   const Estimate& b, const std::pair<RoundFigure, RoundFigure>& of_rounds = {}) {
    ComparedFigure figure = begin(id, stage, FigureUnit::seconds_per_sample, a, b);
    const auto interval =
        of_rounds.first ? difference(of_rounds.first, of_rounds.second) : std::nullopt;
    if (interval && figure.change.value) {
      finish(figure, Interval{interval->low / *a.value, interval->high / *a.value});
    }
    figures_.push_back(std::move(figure));
  }

  [[nodiscard]] std::vector<ComparedFigure> take() { return std::move(figures_); }

 private:
  [[nodiscard]] std::optional<Interval> difference(const RoundFigure& a,
                                                   const RoundFigure& b) const {
    return session_difference(part_means(a_, a), part_means(b_, b), confidence_);
  }

  [[nodiscard]] static ComparedFigure begin(const std::string& id, const std::string& stage,
                                            FigureUnit unit, const Estimate& a, const Estimate& b) {
    ComparedFigure figure{id, stage, unit, a, b, {}};
    figure.change.value = change_of(a, b, unit);
    return figure;
  }

  static void finish(ComparedFigure& figure, const Interval& interval) {
    if (!figure.change.value || !finite(interval)) return;
    figure.change.interval = widened(interval, *figure.change.value);
  }

  std::vector<RoundTaus> a_;
  std::vector<RoundTaus> b_;
  double confidence_;
  std::vector<ComparedFigure> figures_;
};

int last_boundary(const Report& report) { return static_cast<int>(report.stages.size()); }

/// Busy seconds per sample of the worker threads in a stage, waiting included.
Estimate busy_seconds(const StageReport& stage) {
  if (!stage.cpu_seconds_per_sample || !stage.wait_seconds_per_sample) return {};
  return {*stage.cpu_seconds_per_sample + *stage.wait_seconds_per_sample, std::nullopt};
}

void add_stage(FigureTable& table, const StageReport& a, const StageReport& b) {
  const std::string id = "stages." + a.name;
  const auto pair = [&](const auto& of) {
    return std::pair(of(a.index - 1, a.index), of(b.index - 1, b.index));
  };
  table.add_share(id + ".drop", a.name, a.drop, b.drop, pair(drop_between));
  table.add_seconds(id + ".seconds", a.name, {a.seconds_per_sample, {}}, {b.seconds_per_sample, {}},
                    pair(seconds_between));
  table.add_seconds(id + ".busy", a.name, busy_seconds(a), busy_seconds(b));
}

}  // namespace

std::vector<ComparedFigure> report_figures(const Report& a, const Report& b,
                                           const StageMatches& matches, double confidence) {
  FigureTable table(a, b, confidence);
  table.add_rate("live", a.live, b.live, 0, 0);
  table.add_rate("ceiling", a.ceiling, b.ceiling, last_boundary(a), last_boundary(b));
  table.add_share("loss", "", a.loss.total, b.loss.total,
                  {drop_between(0, last_boundary(a)), drop_between(0, last_boundary(b))});
  table.add_share("starvation", "", a.loss.starvation, b.loss.starvation);
  table.add_share("contention", "", a.loss.contention, b.loss.contention);
  for (std::size_t stage = 0; stage < a.stages.size(); ++stage) {
    if (const auto same = matches.of(stage)) add_stage(table, a.stages[stage], b.stages.at(*same));
  }
  return table.take();
}

}  // namespace cachebisect
