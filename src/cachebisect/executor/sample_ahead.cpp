#include "cachebisect/executor/sample_ahead.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace cachebisect {
namespace {

/// From there on the processor fetches ahead by itself.
constexpr std::size_t kMostFetched = 4096;

}  // namespace

void SampleAhead::begin_run(const LoadProgram& program, const SourceStage& source) {
  program_ = &program;
  next_position_ = 0;
  fetch({});
  caches_.clear();
  source_ = nullptr;
  const auto& steps = program.sample_steps();
  const bool reads = !steps.empty() && steps.front().kind == LoadStep::Kind::read;
  size_ = source.size();
  // The next place of a grouped order may be in a window that is not sorted yet.
  if (!reads || program.is_grouped() || size_ == 0) return;
  for (const std::size_t at : program.cache_steps()) {
    caches_.push_back(static_cast<const CacheStage*>(steps[at].link->stage.get()));
  }
  if (!source.held({}).empty()) source_ = &source;
}

std::span<const std::byte> SampleAhead::held(SampleIndex index) const {
  for (const CacheStage* const cache : caches_) {
    const auto bytes = cache->held(index);
    if (!bytes.empty()) return bytes;
  }
  return source_ == nullptr ? std::span<const std::byte>{} : source_->held(index);
}

void SampleAhead::fetch(std::span<const std::byte> bytes) noexcept {
  const std::size_t before = reinterpret_cast<std::uintptr_t>(bytes.data()) % kLine;
  const std::size_t lines = (before + std::min(bytes.size(), kMostFetched) + kLine - 1) / kLine;
  fetched_ = bytes.data() - before;
  fetch_end_ = bytes.empty() ? fetched_ : fetched_ + lines * kLine;
  fetch_some();
}

SampleIndex SampleAhead::index(const LoadCursor& at, std::uint64_t position) {
  if (source_ == nullptr && caches_.empty()) return program_->index(at, order_);
  const bool known = next_position_ != 0 && position == next_position_;
  const SampleIndex index = known ? next_ : program_->index(at, order_);
  next_ = program_->index(at.next(), order_);
  next_position_ = position + 1;
  while (fetched_ != fetch_end_) fetch_some();
  if (next_ < size_) fetch(held(next_));
  return index;
}

}  // namespace cachebisect
