#include "cachebisect/bisect/evidence/part_evidence.hpp"

#include <algorithm>
#include <numeric>

#include "cachebisect/bisect/record/boundary_levels.hpp"

namespace cachebisect {

PartEvidence::PartEvidence(const RoundTable& rounds, double confidence,
                           const std::vector<int>& suspects)
    : rounds_(&rounds), alpha_(1 - confidence) {
  const auto n = static_cast<std::size_t>(rounds.last());
  weights_.assign(n, 1 / static_cast<double>(n));
  suspect(suspects);
}

void PartEvidence::suspect(const std::vector<int>& suspects) {
  const auto named = static_cast<double>(suspects.size());
  const auto others = static_cast<double>(weights_.size()) - named;
  if (named == 0 || others == 0) return;
  std::fill(weights_.begin(), weights_.end(), (1 - kMainShare) / others);
  for (const int stage : suspects) {
    weights_.at(static_cast<std::size_t>(stage) - 1) = kMainShare / named;
  }
}

double PartEvidence::weight(const Part& part) const {
  if (part == whole()) return 1;
  return std::min(1.0,
                  std::accumulate(weights_.begin() + part.from, weights_.begin() + part.to, 0.0));
}

TableEvidence& PartEvidence::find(Entries& entries, const Part& part, double threshold) {
  return entries.try_emplace(part, threshold).first->second;
}

const ConfidenceSequence& PartEvidence::pair(const Part& part) {
  TableEvidence& evidence = find(pairs_, part, 2 / (alpha_ * weight(part)));
  evidence.update(*rounds_, part.from, part.to);
  return evidence.sequence();
}

const ConfidenceSequence& PartEvidence::cover(const Part& part) {
  TableEvidence& evidence = find(covers_, part, 2 / alpha_);
  evidence.update(*rounds_, [&](std::size_t round) {
    return visited_around(*rounds_, round, part.from, part.to);
  });
  return evidence.sequence();
}

}  // namespace cachebisect
