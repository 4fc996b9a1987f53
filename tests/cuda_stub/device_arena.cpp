#include "cuda_stub/device_arena.hpp"

#include <cstring>
#include <new>

#include <sys/mman.h>

namespace cuda_stub {
namespace {

constexpr std::size_t kAlignment = 512;
constexpr int kPoison = 0xDB;

std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

DeviceArena::DeviceArena(std::size_t bytes) : bytes_(bytes) {
  void* base = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<std::byte*>(base);
}

DeviceArena::~DeviceArena() { munmap(base_, bytes_); }

std::byte* DeviceArena::allocate(std::size_t bytes) {
  std::size_t gap = 0;
  for (const auto& [offset, size] : allocated_) {
    if (offset - gap >= bytes) break;
    gap = aligned(offset + size);
  }
  if (gap > bytes_ || bytes_ - gap < bytes) return nullptr;
  allocated_.emplace(gap, bytes);
  poison(base_ + gap, bytes);
  return base_ + gap;
}

bool DeviceArena::free(std::byte* data) {
  const auto found =
      owns(data) ? allocated_.find(static_cast<std::size_t>(data - base_)) : allocated_.end();
  if (found == allocated_.end()) return false;
  poison(data, found->second);
  allocated_.erase(found);
  return true;
}

bool DeviceArena::holds(const void* data, std::size_t bytes) const {
  if (!owns(data)) return false;
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(data) - base_);
  auto after = allocated_.upper_bound(offset);
  if (after == allocated_.begin()) return false;
  --after;
  return offset + bytes <= after->first + after->second;
}

bool DeviceArena::owns(const void* data) const {
  const auto* at = static_cast<const std::byte*>(data);
  return at >= base_ && at < base_ + bytes_;
}

std::size_t DeviceArena::used() const {
  std::size_t used = 0;
  for (const auto& allocation : allocated_) used += aligned(allocation.second);
  return used;
}

void DeviceArena::poison(std::byte* data, std::size_t bytes) const {
  const Access access(*this);
  std::memset(data, kPoison, bytes);
}

DeviceArena::Access::Access(const DeviceArena& arena) : arena_(&arena) {
  mprotect(arena.base_, arena.bytes_, PROT_READ | PROT_WRITE);
}

DeviceArena::Access::~Access() { mprotect(arena_->base_, arena_->bytes_, PROT_NONE); }

}  // namespace cuda_stub
