#include "cachebisect/bisect/advice/sentence.hpp"

#include <algorithm>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/advice/process_warnings.hpp"
#include "cachebisect/bisect/report/ranks_text.hpp"

namespace cachebisect {
namespace {

/// Nobody waits for longer.
constexpr double kReportDurationAboveSeconds = 4 * 3600;

std::string list(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

std::string with_interval(const Estimate& drop, double confidence) {
  if (!drop.value) return "an unknown share";
  std::string text = percent(*drop.value);
  if (drop.interval) {
    text += " (" + percent_range(*drop.interval) + " at " + percent(confidence) + ")";
  }
  return text;
}

class Sentence {
 public:
  Sentence(const Measurements& measured, const Waterfall& waterfall, const Explanation& explanation,
           const Verdict& verdict)
      : measured_(measured),
        waterfall_(waterfall),
        explanation_(explanation),
        verdict_(verdict),
        confidence_(measured.settings.confidence) {}

  [[nodiscard]] std::string text() const {
    switch (verdict_.kind) {
      case VerdictKind::anomaly:
        return anomaly();
      case VerdictKind::drop:
        return drop();
      case VerdictKind::spread:
        return spread();
      case VerdictKind::flat:
        return flat();
      case VerdictKind::inconclusive:
        return inconclusive();
    }
    return {};
  }

 private:
  /// ": 12,345 samples/s with it cached, 6,789 with it live".
  [[nodiscard]] std::string before_and_after() const {
    const auto& boundaries = waterfall_.boundaries;
    const SpanReport* const span = named_span();
    const int first = span != nullptr ? span->first : verdict_.stage_index;
    const int last = span != nullptr ? span->last : verdict_.stage_index;
    if (first <= 0 || static_cast<std::size_t>(last) >= boundaries.size()) return {};
    const auto& live = boundaries[static_cast<std::size_t>(first) - 1].samples_per_second.value;
    const auto& cached = boundaries[static_cast<std::size_t>(last)].samples_per_second.value;
    if (!live || !cached) return {};
    const std::string which = span != nullptr ? "them" : "it";
    return ": " + rate(*cached) + " samples/s with " + which + " cached, " + rate(*live) +
           " with " + which + " live";
  }

  /// Whose drop the verdict gives, if it is not that of a single stage; else null.
  [[nodiscard]] const SpanReport* named_span() const {
    const auto found = std::ranges::find(waterfall_.spans, verdict_.span, &SpanReport::name);
    return found == waterfall_.spans.end() ? nullptr : &*found;
  }

  /// "decode costs 41% of throughput", or what a span costs, with the stage that takes most of it.
  [[nodiscard]] std::string what_is_lost() const {
    const std::string lost = with_interval(verdict_.drop, confidence_) + " of throughput";
    if (verdict_.span.empty()) return verdict_.stage + " costs " + lost;
    if (verdict_.stage == verdict_.span) return verdict_.span + " cost " + lost;
    return verdict_.stage + " takes most of the time of " + verdict_.span + ", which cost " + lost;
  }

  [[nodiscard]] bool is_bursty() const {
    if (const SpanReport* const span = named_span()) return span->bursty;
    return verdict_.stage_index > 0 && named_stage().bursty;
  }

  [[nodiscard]] const StageReport& named_stage() const {
    return waterfall_.stages.at(static_cast<std::size_t>(verdict_.stage_index) - 1);
  }

  [[nodiscard]] std::optional<double> payoff_of(const std::string& name) const {
    for (const Payoff& payoff : explanation_.payoffs) {
      const auto stage = static_cast<std::size_t>(payoff.stage) - 1;
      if (waterfall_.stages[stage].name == name) return payoff.samples_per_second.value;
    }
    return std::nullopt;
  }

  [[nodiscard]] bool gains_most_elsewhere() const {
    return !verdict_.fix_first.empty() && verdict_.fix_first != verdict_.stage;
  }

  /// Leads the sentence if another stage is worth fixing first: which, and why.
  [[nodiscard]] std::string fix_first() const {
    if (!gains_most_elsewhere()) return {};
    const auto first = payoff_of(verdict_.fix_first);
    const auto named = payoff_of(verdict_.stage);
    if (!first || !named) {
      return "Fix " + verdict_.fix_first + " first: its live time is larger than that of " +
             verdict_.stage + ". ";
    }
    const char* const reaches = explanation_.pays_most_certainly ? "reaches " : "seems to reach ";
    return "Fix " + verdict_.fix_first + " first: with it alone free the pipeline " + reaches +
           rate(*first) + " samples/s, with " + verdict_.stage + " only " + rate(*named) + ". ";
  }

  /// Between processes the count of values matters as much as their bytes.
  [[nodiscard]] std::string what_is_sent(const StageReport& stage) const {
    const auto& batch = measured_.chain.batch_contents;
    const bool sends = stage.category == Category::transfer || stage.category == Category::pin;
    if (!sends || !batch) return {};
    return " A batch is " + counted(batch->tensors, "tensor") + " and " +
           counted(batch->objects, "other object") + ", " + rate(batch->bytes / 1e6) +
           " MB in all.";
  }

  [[nodiscard]] std::string drop() const {
    const std::string place =
        verdict_.ranks ? place_text(measured_.chain, *verdict_.ranks) + ", " : "";
    std::string text =
        proportion() + fix_first() + place + what_is_lost() + before_and_after() + ".";
    if (gains_most_elsewhere()) {
      text += " That is measured with all stages before it free, and live they are not.";
    }
    if (is_bursty()) text += " It is lost in rare stalls rather than in every batch.";
    if (verdict_.stage_index > 0) text += what_is_sent(named_stage());
    if (!verdict_.tied_with.empty()) {
      text += " " + list(verdict_.tied_with) +
              " may cost as much: the measurement does not tell them apart.";
    }
    return text + about_ranks();
  }

  [[nodiscard]] std::string about_straggler() const {
    if (!verdict_.straggler) return {};
    const Straggler& straggler = *verdict_.straggler;
    const std::string who = place_text(measured_.chain, {straggler.rank, 1});
    const std::string rounds =
        std::to_string(straggler.rounds) + " of " + std::to_string(straggler.of_rounds) + " rounds";
    if (!straggler.moves) return " It does not move: " + who + " is the slowest in " + rounds + ".";
    return " The slowest rank changes from round to round (" + who + " in " + rounds +
           "): look at what they share, such as storage, not at one of them.";
  }

  [[nodiscard]] std::string about_no_rank() const {
    const bool known = std::ranges::all_of(explanation_.ranks, [](const RankPayoff& payoff) {
      return payoff.samples_per_second.interval.has_value();
    });
    if (!known) return " Which rank the others wait for is open: too few rounds.";
    const bool each = std::ranges::all_of(
        explanation_.ranks, [](const RankPayoff& payoff) { return payoff.ranks.is_single(); });
    if (each) return " No single rank explains it: with one alone free, others still wait.";
    return std::string(measured_.chain.nodes.empty() ? " No group of ranks" : " No single node") +
           " explains it: with one alone free, others still wait.";
  }

  /// What a distributed job asks: whether one rank holds up the others.
  [[nodiscard]] std::string about_ranks() const {
    const std::vector<RankPayoff>& ranks = explanation_.ranks;
    if (ranks.empty()) return about_straggler();
    if (!verdict_.ranks) return about_no_rank() + about_straggler();
    const bool single = verdict_.ranks->is_single();
    const NodeDescription* const node = node_of(measured_.chain, *verdict_.ranks);
    const bool whole_node = !single && node != nullptr && node->ranks == *verdict_.ranks;
    std::string text = " The other ranks wait for ";
    text += (whole_node ? "those of " : "") + place_text(measured_.chain, *verdict_.ranks);
    for (const RankPayoff& payoff : ranks) {
      if (payoff.ranks != *verdict_.ranks || !payoff.samples_per_second.value) continue;
      text += (single ? ": with it alone free" : ": with these alone free") +
              (", each rank reaches " + rate(*payoff.samples_per_second.value) + " samples/s");
    }
    return text + "." + about_straggler();
  }

  [[nodiscard]] std::string spread() const {
    const std::size_t count = verdict_.shares.size();
    return with_interval(waterfall_.loss, confidence_) +
           " of throughput is lost before the training step, but no single stage costs " +
           percent(measured_.settings.min_drop) + ": " + list(verdict_.shares) +
           (count == 1 ? " holds" : " hold") + " half of it." + about_ranks();
  }

  [[nodiscard]] std::string flat() const {
    std::string text = "The training step is the limit: ";
    const auto& interval = waterfall_.loss.interval;
    if (interval && interval->high > 0) {
      text += "the whole input pipeline costs at most " + percent_at_most(interval->high) +
              " of throughput (at " + percent(confidence_) + ").";
    } else {
      text += "the input pipeline costs nothing that can be measured.";
    }
    if (measured_.sustained) {
      text += " Live was watched for " + duration(waterfall_.live_loop.watched_seconds) +
              ": rarer stalls are not excluded.";
    }
    if (measured_.chain.ranks > 1) text += " No rank's input explains the time of a step.";
    if (is_host_bound(measured_)) {
      text += is_launch_bound(measured_)
                  ? " The step is bound by launching: the device has nothing to do when the next "
                    "one is submitted ("
                  : " The host is busy or waits in it while the device has nothing to do (";
      text += percent(*device_idle_share(measured_)) + " of the step ends).";
    }
    return text;
  }

  [[nodiscard]] std::string anomaly() const {
    const std::string where = verdict_.stage.empty()
                                  ? "Live is faster than the ceiling with the input for free"
                                  : "Serving the output of " + verdict_.stage +
                                        " from the cache is slower than running it";
    const std::string amount =
        verdict_.drop.value ? " (by " + percent(-*verdict_.drop.value) + ")" : std::string();
    return where + amount +
           ", which should be impossible: the caches may hold slower samples than live has met, "
           "or not fit into the processor's; the clock may change, or a stage may have side "
           "effects. Do not act on the drops before this is understood.";
  }

  /// An inconclusive report begins with what is certain all the same.
  [[nodiscard]] std::string what_is_excluded() const {
    const std::string rounds =
        " after " + counted(static_cast<std::uint64_t>(verdict_.rounds), "round");
    const std::string bar = percent(measured_.settings.min_drop);
    const auto& interval = waterfall_.loss.interval;
    if (!interval && waterfall_.loss.value.value_or(0) <= 0) {
      return "Not certain" + rounds + ": live seems no slower than the training step alone.";
    }
    if (!interval) {
      return "Not certain" + rounds + ": " + with_interval(waterfall_.loss, confidence_) +
             " of throughput seems lost before the training step.";
    }
    const std::string at = " (at " + percent(confidence_) + ")";
    if (interval->low > measured_.settings.min_drop) {
      return "The input costs " + percent_range(*interval) + " of throughput" + at +
             "; which stage is to blame is open" + rounds + ".";
    }
    return "The input costs at most " + percent_at_most(std::max(0.0, interval->high)) +
           " of throughput" + at + "; whether it costs more than " + bar + " is open" + rounds +
           ".";
  }

  struct LostAt {
    std::string name;
    double drop = 0;
    std::optional<Interval> interval;
    bool bursty = false;
    bool several = false;  ///< stages
  };

  /// The losses of the stages and spans that were measured.
  [[nodiscard]] std::vector<LostAt> losses() const {
    std::vector<LostAt> parts;
    const auto add = [&](const auto& rows, bool several) {
      for (const auto& row : rows) {
        if (!row.drop.value) continue;
        parts.push_back({row.name, *row.drop.value, row.drop.interval, row.bursty, several});
      }
    };
    add(waterfall_.stages, false);
    add(waterfall_.spans, true);
    return parts;
  }

  /// The first of two loses its time in stalls, too few to be certain of their rate.
  [[nodiscard]] std::string which_costs_more(const std::vector<LostAt>& parts) const {
    const auto costs = [&](const std::string& name) {
      const auto part = std::ranges::find(parts, name, &LostAt::name);
      if (part == parts.end()) return name + " costs an unknown share";
      return name + (part->several ? " cost " : " costs ") + percent(part->drop);
    };
    return costs(verdict_.tied_with[0]) + " by the mean, in stalls, and " +
           costs(verdict_.tied_with[1]) + ": which costs more is open.";
  }

  /// A small loss is put into proportion first.
  [[nodiscard]] std::string proportion() const {
    const auto& interval = waterfall_.loss.interval;
    if (!interval || interval->high >= 2 * measured_.settings.min_drop) return {};
    return "The training step is the limit; the input costs at most " +
           percent_at_most(interval->high) + ". ";
  }

  [[nodiscard]] std::string inconclusive() const {
    if (verdict_.rounds == 0) {
      return std::string(measured_.interrupted ? "Stopped before" : "The budget ended before") +
             " a single complete round was measured: nothing is known yet.";
    }
    std::string text = what_is_excluded();
    const std::vector<LostAt> parts = losses();
    const auto largest = std::ranges::max_element(parts, {}, &LostAt::drop);
    // One round may have met anything.
    const bool loses = waterfall_.loss.interval || waterfall_.loss.value.value_or(0) > 0;
    if (verdict_.tied_with.size() == 2) {
      text += " " + which_costs_more(parts);
    } else if (verdict_.rounds > 1 && loses && largest != parts.end() && largest->drop > 0) {
      text += " Most seems lost at " + largest->name;
      // Without an interval the figure may be that of a single block.
      if (largest->interval) text += " (" + percent_range(*largest->interval) + ")";
      text += ".";
    }
    for (const LostAt& part : parts) {
      if (!part.bursty || part.drop < measured_.settings.min_drop) continue;
      text += " At " + part.name + " time is lost in rare stalls rather than in every batch.";
    }
    if (verdict_.needed && verdict_.needed->seconds > kReportDurationAboveSeconds) {
      text += " To tell would take " + duration(verdict_.needed->seconds) +
              ": a quieter machine or a larger --min-drop takes less.";
    } else if (verdict_.needed) {
      text += " About " + std::to_string(verdict_.needed->rounds) +
              " rounds would tell: --budget " +
              std::to_string(static_cast<long>(verdict_.needed->seconds) + 1) + ".";
    }
    return text;
  }

  const Measurements& measured_;
  const Waterfall& waterfall_;
  const Explanation& explanation_;
  const Verdict& verdict_;
  double confidence_;
};

}  // namespace

std::string verdict_sentence(const Measurements& measured, const Waterfall& waterfall,
                             const Explanation& explanation, const Verdict& verdict) {
  return Sentence(measured, waterfall, explanation, verdict).text();
}

}  // namespace cachebisect
