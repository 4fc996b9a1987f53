#include "cachebisect/bisect/phases/storage_phase.hpp"

#include <algorithm>
#include <string>

#include "cachebisect/bisect/record/bars.hpp"

namespace cachebisect {
namespace {

/// As many as a cache has at least.
constexpr std::uint64_t kCountedSamples = 64;

bool reads(const ChainDescription& chain, const std::string& name) {
  return std::ranges::any_of(chain.stages, [&](const StageDescription& stage) {
    return stage.name == name && stage.category == Category::read;
  });
}

}  // namespace

bool names_reading(const Verdict& verdict, const ChainDescription& chain) {
  const auto is_reading = [&](const std::string& name) { return reads(chain, name); };
  return is_reading(verdict.stage) || is_reading(verdict.fix_first) ||
         std::ranges::any_of(verdict.tied_with, is_reading) ||
         std::ranges::any_of(verdict.shares, is_reading);
}

void count_storage(Replayer& replayer, const std::stop_token& stop, Measurements& measured) {
  // Where storage is slow, a few samples tell.
  measured.storage =
      replayer.count_storage({.samples = kCountedSamples, .max_seconds = kExtraSeconds}, stop);
}

}  // namespace cachebisect
