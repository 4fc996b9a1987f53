// The system calls of io_uring, without its library: a queue of requests, and one of answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <linux/io_uring.h>

#include "cachebisect/base/file_descriptor.hpp"

namespace cold_files {

/// For one thread.
class Ring {
 public:
  struct Answer {
    std::uint64_t request = 0;
    int result = 0;  ///< as of the system call; an error is negative
  };

  /// Throws std::runtime_error if the system has no io_uring, or does not allow it.
  explicit Ring(unsigned entries);
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  void open_file(const char* path, std::uint64_t request);
  void read(int file, void* out, unsigned bytes, std::uint64_t request);
  /// Hands over what was asked for, and waits for one answer or more.
  void submit_and_wait();
  [[nodiscard]] std::optional<Answer> next();

 private:
  io_uring_sqe& add(std::uint8_t operation, std::uint64_t request);

  cachebisect::FileDescriptor ring_;
  unsigned char* queue_ = nullptr;
  std::size_t queue_bytes_ = 0;
  io_uring_sqe* requests_ = nullptr;
  std::size_t request_bytes_ = 0;
  io_uring_params params_{};
  unsigned added_ = 0;
};

}  // namespace cold_files
