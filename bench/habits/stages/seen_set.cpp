#include "bench/habits/stages/seen_set.hpp"

#include <atomic>
#include <bit>
#include <cerrno>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/file_descriptor.hpp"

namespace cachebisect::habits {
namespace {

constexpr std::uint64_t kBits = 64;

[[noreturn]] void refuse(const std::string& file) {
  throw Error(ErrorKind::data,
              file + ": " + errno_text(errno) + "; name a file that can be written");
}

}  // namespace

/// The words, on the heap or mapped from a file.
class SeenSet::Memory {
 public:
  Memory(std::size_t words, const std::string& file) {
    if (file.empty()) {
      heap_.assign(words, 0);
      words_ = heap_;
      return;
    }
    const std::size_t bytes = words * sizeof(std::uint64_t);
    const FileDescriptor descriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (!descriptor.is_open() || ::ftruncate(descriptor.get(), static_cast<off_t>(bytes)) != 0)
      refuse(file);
    void* const at =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor.get(), 0);
    if (at == MAP_FAILED) refuse(file);
    words_ = {static_cast<std::uint64_t*>(at), words};
    mapped_ = true;
  }
  ~Memory() {
    if (mapped_) ::munmap(words_.data(), words_.size_bytes());
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  [[nodiscard]] std::span<std::uint64_t> words() const noexcept { return words_; }

 private:
  std::vector<std::uint64_t> heap_;
  std::span<std::uint64_t> words_;
  bool mapped_ = false;
};

SeenSet::SeenSet(std::uint64_t capacity, const std::string& file)
    : capacity_(capacity),
      memory_(
          std::make_unique<Memory>(static_cast<std::size_t>((capacity + kBits - 1) / kBits), file)),
      words_(memory_->words()) {}

SeenSet::~SeenSet() = default;

bool SeenSet::insert(std::uint64_t index) {
  if (index >= capacity_) {
    throw Error(ErrorKind::usage, "sample " + std::to_string(index) + " is beyond the " +
                                      std::to_string(capacity_) + " of `samples`");
  }
  const std::uint64_t bit = std::uint64_t{1} << (index % kBits);
  const std::atomic_ref<std::uint64_t> word(words_[static_cast<std::size_t>(index / kBits)]);
  return (word.fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
}

std::uint64_t SeenSet::count() const noexcept {
  std::uint64_t count = 0;
  for (std::uint64_t& word : words_) {
    const std::uint64_t value = std::atomic_ref<std::uint64_t>(word).load();
    count += static_cast<std::uint64_t>(std::popcount(value));
  }
  return count;
}

}  // namespace cachebisect::habits
