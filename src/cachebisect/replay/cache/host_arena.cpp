#include "cachebisect/replay/cache/host_arena.hpp"

#include <algorithm>
#include <string>

#include <sys/mman.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/data/memory.hpp"

namespace cachebisect {
namespace {

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

HostArena::~HostArena() {
  for (const Chunk& chunk : chunks_) munmap(chunk.data, chunk.size);
}

std::byte* HostArena::take(std::size_t bytes) {
  constexpr std::size_t kChunk = std::size_t{4} << 20;
  constexpr std::size_t kPage = 4096;
  const std::size_t rounded = round_up(std::max<std::size_t>(bytes, 1), MemoryResource::kAlignment);
  const std::lock_guard lock(mutex_);
  while (current_ < chunks_.size() && !chunks_[current_].holds(rounded)) ++current_;
  if (current_ == chunks_.size()) {
    const std::size_t size = std::max(kChunk, round_up(rounded, kPage));
    void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) {  // NOLINT(performance-no-int-to-ptr)
      throw Error(ErrorKind::usage, "no host memory left for a cache of " + std::to_string(bytes_) +
                                        " bytes; lower --cache-host");
    }
    chunks_.push_back({static_cast<std::byte*>(data), size, 0});
  }
  Chunk& chunk = chunks_[current_];
  std::byte* taken = chunk.data + chunk.used;
  chunk.used += rounded;
  bytes_ += rounded;
  return taken;
}

void HostArena::reset() noexcept {
  for (Chunk& chunk : chunks_) chunk.used = 0;
  current_ = 0;
  bytes_ = 0;
}

void store_sample(const Sample& from, Sample& to, HostArena& arena) {
  to.set_index(from.index());
  to.set_origin(from.origin());
  for (const Sample::NamedField& named : from.fields()) {
    const ConstTensorView view = named.field.view();
    const TensorView place = dense_view(arena.take(view.byte_size()), view.dtype, view.shape);
    copy_tensor(view, place);
    to.field(named.name).share(place);
  }
}

}  // namespace cachebisect
