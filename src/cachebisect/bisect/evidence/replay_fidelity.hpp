// Whether stages cost the same when they are replayed as they do live. A stage that remembers
// samples is nearly free the second time, and a stage whose input comes from memory instead of the
// processor's cache takes longer than live. Throughput at such a boundary is not that of the
// pipeline with the stages before it free. A stage that the stages before it slow down, while they
// run next to it, is cheaper replayed too, and rightly so: unseen blocks tell it from one that
// remembers.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "cachebisect/base/export.hpp"
#include "cachebisect/bisect/evidence/own_seconds.hpp"
#include "cachebisect/bisect/evidence/part.hpp"
#include "cachebisect/bisect/evidence/rank_sequence.hpp"
#include "cachebisect/bisect/record/block_record.hpp"
#include "cachebisect/protocol/chain_description.hpp"

namespace cachebisect {

/// A boundary whose replay is not what it should be, by the stage that differs most.
struct Distortion {
  int boundary = 0;
  int stage = 0;                ///< 1-based
  double live_seconds = 0;      ///< of the stage, per sample
  double replayed_seconds = 0;  ///< the same when replayed from `boundary`
  double share = 0;        ///< of the live loop's time; positive: the stage is cheaper replayed
  bool certified = false;  ///< else it is only likely
  /// Certified: it is dearer for samples that it has never had. False also without unseen blocks.
  bool remembers = false;
  std::size_t unseen_rounds = 0;  ///< that had an unseen block there
};

/// A part that replay cannot take apart. Seconds are per sample, of all workers together.
struct JoinedSpan {
  Part part;
  double loss_seconds = 0;               ///< that the loop is longer with its stages live
  std::span<const double> live_seconds;  ///< of each stage of the chain, as ReplayFidelity's
};

/// The stage (1-based) that the loss of a span belongs to: of the span's live time it takes by far
/// the most. While unseen blocks leave it open whether it remembers samples or the stages before it
/// slow it down, all but what it takes replayed must also be a small part of the loss, some of
/// which the training step may hide. Empty if there is none.
[[nodiscard]] CACHEBISECT_INTERNAL_API std::optional<int> dominant_stage(
    const JoinedSpan& span, std::span<const Distortion> distortions);

struct FidelityOptions {
  double confidence = 0.99;
  double cores = 1;
  std::vector<double> item_bytes;  ///< per sample, by boundary; may be empty
};

/// Compares the live blocks of each super-round with its replays. Not thread safe.
class CACHEBISECT_INTERNAL_API ReplayFidelity {
 public:
  /// Keeps a reference to `chain`.
  ReplayFidelity(const ChainDescription& chain, FidelityOptions options);

  /// Takes the blocks that it has not seen; `blocks` only grows from call to call, by whole
  /// super-rounds.
  void update(std::span<const BlockRecord> blocks);
  /// Boundaries that are off by more than 2% of the live loop's time, by the evidence or, as far as
  /// is known, by the median. Stages that are both cheaper and dearer count as cheaper. Those that
  /// are certainly as cheap for samples that they have never had are left out.
  [[nodiscard]] std::vector<Distortion> distortions() const;
  /// Those left out for that reason: the stages before the boundary slow one after it down.
  [[nodiscard]] std::vector<Distortion> slowed() const;
  /// What each stage's own work takes in live blocks, per sample: means; empty before the first.
  [[nodiscard]] std::vector<double> live_seconds() const;

 private:
  /// What one block shows.
  struct Observation {
    double tau = 0;  ///< seconds per sample of the loop
    bool crowded = false;
    std::vector<OwnSeconds> own;
  };
  /// The observations of one arm, by round.
  using Observations = std::map<int, Observation>;
  /// 0 without any.
  [[nodiscard]] static double mean_tau(const Observations& all);
  /// The blocks of a super-round. Which of them share a round is random with regard to time.
  struct Blocks {
    int number = 0;
    Observations live;
    std::map<int, Observations> replays;  ///< by boundary
    std::map<int, Observations> unseen;   ///< the same
    double live_tau = 0;                  ///< mean, once all are there
    double ceiling_tau = 0;               ///< likewise; 0 without such blocks
  };
  /// Two blocks of a round.
  struct Pair {
    const Observation* reference;
    const Observation* replay;
  };
  /// Shares of the live loop's time that the replay is off by. They also go below zero: noise that
  /// only counts in one direction would look like a difference.
  struct Boundary {
    RankSequence cheaper;  ///< how much slower the replay would be at what stages cost live
    RankSequence dearer;   ///< how much slower it is because its input comes from memory
    /// How much slower it would be at what stages cost for samples that they have never had.
    RankSequence remembered;
    std::vector<double> live;  ///< seconds per sample of each stage, summed over the rounds
    std::vector<double> replayed;
  };
  void add(const BlockRecord& block);
  void settle();
  Boundary& at(int boundary);
  static std::vector<Pair> pairs_of(const Observations& references, const Observations& replays);
  /// The member that tells what stages cost in the replays.
  static double OwnSeconds::*replayed_member(const std::vector<Pair>& pairs);
  /// Adds how much slower the replays would be at what stages cost in the references.
  void add_cheaper(const std::vector<Pair>& pairs, int boundary, RankSequence& to) const;
  void add_dearer(const std::vector<Pair>& pairs, int boundary, RankSequence& to) const;
  /// Whether what workers do sets the pace of the replays, and not the training step.
  [[nodiscard]] bool work_limits(const std::vector<Pair>& pairs, int boundary) const;
  [[nodiscard]] double worker_seconds(const std::vector<double>& stages, int boundary) const;
  /// The longest that reading a cached item from memory may take.
  [[nodiscard]] double reading_seconds(int boundary) const;
  /// Without boundary and stage; empty if the boundary is as it should be.
  [[nodiscard]] static std::optional<Distortion> distortion_of(const Boundary& sums);
  [[nodiscard]] static std::optional<Distortion> cheaper_of(const Boundary& sums);
  [[nodiscard]] static std::optional<Distortion> dearer_of(const Boundary& sums);
  template <typename Find>
  [[nodiscard]] std::vector<Distortion> find_all(const Find& find) const;
  static void add_worst_stage(const Boundary& sums, Distortion& distortion);

  const ChainDescription* chain_;
  FidelityOptions options_;
  std::map<int, Boundary> boundaries_;
  std::vector<double> live_sums_;
  std::size_t live_blocks_ = 0;
  std::size_t seen_ = 0;
  Blocks open_;
};

}  // namespace cachebisect
