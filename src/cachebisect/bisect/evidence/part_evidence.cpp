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
  std::fill(weights_.begin(), weights_.end(), 1 / (2 * others));
  for (const int stage : suspects) {
    weights_.at(static_cast<std::size_t>(stage) - 1) = 1 / (2 * named);
  }
}

double PartEvidence::weight(const Part& part) const {
  if (part == whole()) return 1;
  return std::min(1.0,
                  std::accumulate(weights_.begin() + part.from, weights_.begin() + part.to, 0.0));
}

PartEvidence::Entry& PartEvidence::find(Entries& entries, const Part& part, double threshold) {
  const auto found = entries.find(part);
  if (found != entries.end()) return found->second;
  return entries.emplace(part, Entry{ConfidenceSequence(threshold), 0}).first->second;
}

const ConfidenceSequence& PartEvidence::pair(const Part& part) {
  Entry& entry = find(pairs_, part, 2 / (alpha_ * weight(part)));
  for (; entry.seen < rounds_->rounds(); ++entry.seen) {
    const auto upstream = rounds_->log_tau(entry.seen, part.from);
    const auto downstream = rounds_->log_tau(entry.seen, part.to);
    if (upstream && downstream) entry.sequence.add(*upstream - *downstream);
  }
  return entry.sequence;
}

const ConfidenceSequence& PartEvidence::cover(const Part& part) {
  Entry& entry = find(covers_, part, 2 / alpha_);
  for (; entry.seen < rounds_->rounds(); ++entry.seen) {
    const auto [from, to] = visited_around(*rounds_, entry.seen, part.from, part.to);
    const double upstream = rounds_->log_tau(entry.seen, from).value();
    const double downstream = rounds_->log_tau(entry.seen, to).value();
    entry.sequence.add(upstream - downstream, from * (rounds_->last() + 1) + to);
  }
  return entry.sequence;
}

}  // namespace cachebisect
