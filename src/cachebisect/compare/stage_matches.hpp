// Which stage of one chain is which of another. Internal to the comparisons.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// What tells a stage from others.
struct StageIdentity {
  std::string name;
  std::string type;  ///< may be empty
};

template <class Stages>
[[nodiscard]] std::vector<StageIdentity> identities_of(const Stages& stages) {
  std::vector<StageIdentity> identities;
  identities.reserve(stages.size());
  for (const auto& stage : stages) identities.push_back({stage.name, stage.type});
  return identities;
}

/// Stages match by name, else as the only ones of their type that are left in both chains: a change
/// may rename a class, and so its stage.
class CACHEBISECT_INTERNAL_API StageMatches {
 public:
  StageMatches(std::vector<StageIdentity> a, std::vector<StageIdentity> b);

  /// The stage of B that a stage of A matches, by index.
  [[nodiscard]] std::optional<std::size_t> of(std::size_t stage_of_a) const {
    return matches_.at(stage_of_a);
  }
  /// Which stages match without having the same name, in sentences.
  [[nodiscard]] std::vector<std::string> notes_of_renamed() const;
  /// Which stages match none, in sentences: those of A, then those of B.
  [[nodiscard]] std::vector<std::string> notes_of_unmatched() const;

 private:
  void match_by_name();
  void match_by_type();
  [[nodiscard]] bool is_match(std::size_t stage_of_b) const;

  std::vector<StageIdentity> a_;
  std::vector<StageIdentity> b_;
  std::vector<std::optional<std::size_t>> matches_;  ///< by stage of A
};

}  // namespace cachebisect
