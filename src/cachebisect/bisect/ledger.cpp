#include "cachebisect/bisect/ledger.hpp"

#include <algorithm>
#include <numeric>

namespace cachebisect {

Ledger::Ledger(const RoundTable& rounds, double confidence)
    : rounds_(&rounds), alpha_(1 - confidence) {
  const auto n = static_cast<std::size_t>(rounds.stages());
  weights_.assign(n, 1 / static_cast<double>(n));
}

void Ledger::name_suspects(const std::vector<int>& suspects) {
  const auto named = static_cast<double>(suspects.size());
  const auto others = static_cast<double>(weights_.size()) - named;
  if (named == 0 || others == 0) return;
  std::fill(weights_.begin(), weights_.end(), 1 / (2 * others));
  for (const int stage : suspects)
    weights_.at(static_cast<std::size_t>(stage) - 1) = 1 / (2 * named);
}

double Ledger::weight(const Part& part) const {
  if (part == whole()) return 1;
  return std::min(1.0,
                  std::accumulate(weights_.begin() + part.from, weights_.begin() + part.to, 0.0));
}

const Evidence& Ledger::pair(const Part& part) {
  auto found = entries_.find(part);
  if (found == entries_.end()) {
    found = entries_.emplace(part, Entry{Evidence(2 / (alpha_ * weight(part))), 0}).first;
  }
  Entry& entry = found->second;
  for (; entry.seen < rounds_->rounds(); ++entry.seen) {
    const auto upstream = rounds_->log_tau(entry.seen, part.from);
    const auto downstream = rounds_->log_tau(entry.seen, part.to);
    if (upstream && downstream) entry.evidence.add(*upstream - *downstream);
  }
  return entry.evidence;
}

}  // namespace cachebisect
