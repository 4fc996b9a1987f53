#include "cachebisect/data/memory.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "cachebisect/base/error.hpp"

namespace cachebisect {
namespace {

constexpr std::size_t round_up(std::size_t bytes) {
  constexpr std::size_t mask = MemoryResource::kAlignment - 1;
  return (bytes + mask) & ~mask;
}

class HostMemory final : public MemoryResource {
 public:
  [[nodiscard]] MemoryKind kind() const noexcept override { return MemoryKind::host; }

  [[nodiscard]] std::byte* allocate(std::size_t bytes) override {
    void* data = ::operator new (round_up(bytes), std::align_val_t{kAlignment}, std::nothrow);
    if (data == nullptr) {
      throw Error(ErrorKind::data, "no host memory left for " + std::to_string(bytes) + " bytes");
    }
    return static_cast<std::byte*>(data);
  }

  void deallocate(std::byte* data, std::size_t /*bytes*/) noexcept override {
    ::operator delete (data, std::align_val_t{kAlignment});
  }
};

}  // namespace

MemoryResource::~MemoryResource() = default;

std::shared_ptr<MemoryResource> host_memory() { return std::make_shared<HostMemory>(); }

Buffer::Buffer(Buffer&& other) noexcept
    : resource_(std::move(other.resource_)),
      data_(std::exchange(other.data_, nullptr)),
      capacity_(std::exchange(other.capacity_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this != &other) {
    free();
    resource_ = std::move(other.resource_);
    data_ = std::exchange(other.data_, nullptr);
    capacity_ = std::exchange(other.capacity_, 0);
  }
  return *this;
}

Buffer::~Buffer() { free(); }

void Buffer::free() noexcept {
  if (data_ != nullptr) resource_->deallocate(data_, capacity_);
  data_ = nullptr;
  capacity_ = 0;
}

std::byte* Buffer::reserve(std::size_t bytes) {
  if (bytes > capacity_) {
    if (!resource_) resource_ = host_memory();
    free();
    data_ = resource_->allocate(bytes);
    capacity_ = bytes;
  }
  return data_;
}

struct Arena::State {
  std::vector<Buffer> blocks;
  std::size_t used = 0;  // of the last block
};

Arena::Arena() : state_(std::make_unique<State>()) {}

Arena::~Arena() = default;

std::span<std::byte> Arena::take(std::size_t bytes) {
  constexpr std::size_t kSmallest = std::size_t{64} * 1024;
  const std::size_t rounded = round_up(std::max<std::size_t>(bytes, 1));
  State& s = *state_;
  if (s.blocks.empty() || s.used + rounded > s.blocks.back().capacity()) {
    s.blocks.emplace_back();
    s.blocks.back().reserve(std::max(rounded, kSmallest));
    s.used = 0;
  }
  std::byte* data = s.blocks.back().data() + s.used;
  s.used += rounded;
  return {data, bytes};
}

void Arena::reset() {
  State& s = *state_;
  if (s.blocks.size() > 1) {
    const std::size_t whole = capacity();
    s.blocks.clear();
    s.blocks.emplace_back();
    s.blocks.back().reserve(whole);
  }
  s.used = 0;
}

std::size_t Arena::capacity() const noexcept {
  std::size_t bytes = 0;
  for (const Buffer& block : state_->blocks) bytes += block.capacity();
  return bytes;
}

}  // namespace cachebisect
