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
#include "cachebisect/bisect/evidence/paired_sequence.hpp"
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

struct FidelityOptions {
  double confidence = 0.99;
  double cores = 1;
  std::vector<double> item_bytes;  ///< per sample, by boundary; may be empty
};

/// Compares the live block of each round with the round's replays. Not thread safe.
class CACHEBISECT_INTERNAL_API ReplayFidelity {
 public:
  /// Keeps a reference to `chain`.
  ReplayFidelity(const ChainDescription& chain, FidelityOptions options);

  /// Takes the blocks that it has not seen; `blocks` only grows from call to call.
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
    int boundary = 0;
    double tau = 0;  ///< seconds per sample of the loop
    bool crowded = false;
    std::vector<OwnSeconds> own;
  };
  /// Shares of the live loop's time that the replay is off by. They also go below zero: noise that
  /// only counts in one direction would look like a difference.
  struct Boundary {
    PairedSequence cheaper;  ///< how much slower the replay would be at what stages cost live
    PairedSequence dearer;   ///< how much slower it is because its input comes from memory
    /// How much slower it would be at what stages cost for samples that they have never had.
    PairedSequence remembered;
    std::vector<double> live;  ///< seconds per sample of each stage, summed over the rounds
    std::vector<double> replayed;
  };
  /// The blocks of a round that were seen so far.
  struct Round {
    std::optional<Observation> live;
    std::map<int, Observation> replays;  ///< by boundary
    std::map<int, Observation> unseen;   ///< the same
  };
  void add(const BlockRecord& block);
  Boundary& at(int boundary);
  void compare(const Observation& live, const Observation& replay);
  void compare_unseen(const Round& round, int boundary);
  /// How much slower the replay would be at what stages cost in `reference`.
  [[nodiscard]] double seconds_cheaper(const Observation& reference,
                                       const Observation& replay) const;
  [[nodiscard]] double share_dearer(const Observation& live, const Observation& replay) const;
  [[nodiscard]] static std::vector<double> replayed_seconds(const Observation& live,
                                                            const Observation& replay);
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
  std::map<int, Round> rounds_;  ///< by number; the latest
};

}  // namespace cachebisect
