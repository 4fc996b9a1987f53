#include "cachebisect/executor/sample_ahead.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace cachebisect {
namespace {

constexpr std::size_t kLine = 64;
/// From there on the processor fetches ahead by itself.
constexpr std::size_t kMostFetched = 4096;

void fetch(std::span<const std::byte> bytes) noexcept {
  if (bytes.empty()) return;
  const std::size_t size = std::min(bytes.size(), kMostFetched);
  for (std::size_t i = 0; i < size; i += kLine) __builtin_prefetch(bytes.data() + i);
  __builtin_prefetch(bytes.data() + size - 1);
}

}  // namespace

void SampleAhead::begin_run(const LoadProgram& program, const SourceStage& source) {
  program_ = &program;
  next_position_ = 0;
  const auto& steps = program.sample_steps();
  const bool reads = !steps.empty() && steps.front().kind == LoadStep::Kind::read;
  // The next place of a grouped order may be in a window that is not sorted yet.
  const bool knows_next = reads && !program.is_grouped() && program.cache_steps().empty();
  size_ = source.size();
  held_ = knows_next && size_ > 0 && !source.held({}).empty() ? &source : nullptr;
}

SampleIndex SampleAhead::index(const LoadCursor& at, std::uint64_t position) {
  if (held_ == nullptr) return program_->index(at, order_);
  const bool known = next_position_ != 0 && position == next_position_;
  const SampleIndex index = known ? next_ : program_->index(at, order_);
  LoadCursor next = at;
  next.advance();
  next_ = program_->index(next, order_);
  next_position_ = position + 1;
  if (next_ < size_) fetch(held_->held(next_));
  return index;
}

}  // namespace cachebisect
