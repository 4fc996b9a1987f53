#include "cachebisect/compare/stage_matches.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace cachebisect {
namespace {

/// The only stage of this type that matches none; empty if there are several, or none.
std::optional<std::size_t> only_unmatched(const std::vector<StageIdentity>& stages,
                                          const std::string& type,
                                          const std::function<bool(std::size_t)>& is_matched) {
  std::optional<std::size_t> only;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (stages[i].type != type || is_matched(i)) continue;
    if (only) return std::nullopt;
    only = i;
  }
  return only;
}

}  // namespace

StageMatches::StageMatches(std::vector<StageIdentity> a, std::vector<StageIdentity> b)
    : a_(std::move(a)), b_(std::move(b)) {
  match_by_name();
  match_by_type();
}

void StageMatches::match_by_name() {
  for (const StageIdentity& stage : a_) {
    const auto found = std::ranges::find(b_, stage.name, &StageIdentity::name);
    matches_.push_back(found == b_.end() ? std::nullopt
                                         : std::optional<std::size_t>(found - b_.begin()));
  }
}

void StageMatches::match_by_type() {
  auto matches = matches_;
  const auto has_match = [this](std::size_t stage) { return matches_[stage].has_value(); };
  const auto is_taken = [this](std::size_t stage) { return is_match(stage); };
  for (std::size_t i = 0; i < a_.size(); ++i) {
    const std::string& type = a_[i].type;
    if (matches_[i] || type.empty() || only_unmatched(a_, type, has_match) != i) continue;
    matches[i] = only_unmatched(b_, type, is_taken);
  }
  matches_ = std::move(matches);
}

bool StageMatches::is_match(std::size_t stage_of_b) const {
  return std::ranges::find(matches_, std::optional(stage_of_b)) != matches_.end();
}

std::vector<std::string> StageMatches::notes_of_renamed() const {
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < a_.size(); ++i) {
    if (!matches_[i] || b_[*matches_[i]].name == a_[i].name) continue;
    notes.push_back("'" + a_[i].name + "' of A is compared with '" + b_[*matches_[i]].name +
                    "' of B, the only other stage of its kind");
  }
  return notes;
}

std::vector<std::string> StageMatches::notes_of_unmatched() const {
  std::vector<std::string> notes;
  const auto note = [&notes](const StageIdentity& stage, const char* side) {
    notes.push_back("stage " + stage.name + " is in " + side + " alone");
  };
  for (std::size_t i = 0; i < a_.size(); ++i) {
    if (!matches_[i]) note(a_[i], "A");
  }
  for (std::size_t i = 0; i < b_.size(); ++i) {
    if (!is_match(i)) note(b_[i], "B");
  }
  return notes;
}

}  // namespace cachebisect
