#include "bench/cold_files/ring.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cold_files {
namespace {

[[noreturn]] void fail_ring(const char* what) {
  throw std::runtime_error(std::string(what) + ": " + cachebisect::errno_text(errno));
}

std::atomic_ref<unsigned> number_at(unsigned char* queue, std::size_t offset) {
  return std::atomic_ref(*reinterpret_cast<unsigned*>(queue + offset));
}

template <class Type>
Type* mapped(int ring, std::size_t bytes, std::uint64_t offset) {
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring,
                          static_cast<off_t>(offset));
  if (at == MAP_FAILED) fail_ring("mmap of io_uring");
  return static_cast<Type*>(at);
}

}  // namespace

Ring::Ring(unsigned entries) {
  ring_ = cachebisect::FileDescriptor(
      static_cast<int>(::syscall(SYS_io_uring_setup, entries, &params_)));
  if (!ring_.is_open()) fail_ring("io_uring_setup");
  if ((params_.features & IORING_FEAT_SINGLE_MMAP) == 0)
    throw std::runtime_error("io_uring of a kernel before 5.4");
  queue_bytes_ =
      std::max<std::size_t>(params_.sq_off.array + params_.sq_entries * sizeof(unsigned),
                            params_.cq_off.cqes + params_.cq_entries * sizeof(io_uring_cqe));
  queue_ = mapped<unsigned char>(ring_.get(), queue_bytes_, IORING_OFF_SQ_RING);
  request_bytes_ = params_.sq_entries * sizeof(io_uring_sqe);
  requests_ = mapped<io_uring_sqe>(ring_.get(), request_bytes_, IORING_OFF_SQES);
}

Ring::~Ring() {
  ::munmap(requests_, request_bytes_);
  ::munmap(queue_, queue_bytes_);
}

io_uring_sqe& Ring::add(std::uint8_t operation, std::uint64_t request) {
  const auto tail = number_at(queue_, params_.sq_off.tail);
  const unsigned at = tail.load(std::memory_order_relaxed);
  const unsigned slot = at & (params_.sq_entries - 1);
  number_at(queue_, params_.sq_off.array + slot * sizeof(unsigned)).store(slot);
  requests_[slot] = {};
  requests_[slot].opcode = operation;
  requests_[slot].user_data = request;
  tail.store(at + 1, std::memory_order_release);
  ++added_;
  return requests_[slot];
}

void Ring::open_file(const char* path, std::uint64_t request) {
  io_uring_sqe& entry = add(IORING_OP_OPENAT, request);
  entry.fd = AT_FDCWD;
  entry.addr = reinterpret_cast<std::uintptr_t>(path);
  entry.open_flags = O_RDONLY | O_CLOEXEC;
}

void Ring::read(int file, void* out, unsigned bytes, std::uint64_t request) {
  io_uring_sqe& entry = add(IORING_OP_READ, request);
  entry.fd = file;
  entry.addr = reinterpret_cast<std::uintptr_t>(out);
  entry.len = bytes;
}

void Ring::submit_and_wait() {
  if (::syscall(SYS_io_uring_enter, ring_.get(), added_, 1, IORING_ENTER_GETEVENTS, nullptr, 0) < 0)
    fail_ring("io_uring_enter");
  added_ = 0;
}

std::optional<Ring::Answer> Ring::next() {
  const auto head = number_at(queue_, params_.cq_off.head);
  const unsigned at = head.load(std::memory_order_relaxed);
  if (at == number_at(queue_, params_.cq_off.tail).load(std::memory_order_acquire))
    return std::nullopt;
  const auto* const all = reinterpret_cast<io_uring_cqe*>(queue_ + params_.cq_off.cqes);
  const io_uring_cqe& answer = all[at & (params_.cq_entries - 1)];
  const Answer copy{answer.user_data, answer.res};
  head.store(at + 1, std::memory_order_release);
  return copy;
}

}  // namespace cold_files
