// Owning handles of CUDA streams and events.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include <cuda_runtime_api.h>

#include "cachebisect/device/device.hpp"

namespace cachebisect::cuda {

/// A timed event.
class CudaEvent final : public Event {
 public:
  /// What a thread does that waits for it: `spin` is the runtime's default.
  enum class Wait { block, spin };
  explicit CudaEvent(int ordinal, Wait wait = Wait::block);
  ~CudaEvent() override;
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  [[nodiscard]] cudaEvent_t get() const noexcept { return event_; }

 private:
  int ordinal_;
  cudaEvent_t event_ = nullptr;
};

/// The streams of a device that exist now. Thread safe.
class StreamList {
 public:
  void add(cudaStream_t stream);
  void remove(cudaStream_t stream) noexcept;
  /// True if none has work left. The calling thread must use the device.
  [[nodiscard]] bool idle() const noexcept;

 private:
  mutable std::mutex mutex_;
  std::vector<cudaStream_t> streams_;
};

/// Does not synchronise with the legacy default stream.
class CudaStream final : public Stream {
 public:
  CudaStream(int ordinal, std::shared_ptr<StreamList> list);
  ~CudaStream() override;
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  [[nodiscard]] void* native() const noexcept override { return stream_; }
  [[nodiscard]] cudaStream_t get() const noexcept { return stream_; }
  /// Blocks, without spinning, until all queued work is done.
  void drain();

 private:
  int ordinal_;
  std::shared_ptr<StreamList> list_;
  CudaEvent tail_;
  cudaStream_t stream_ = nullptr;
};

/// The stream of work that names none, in the form in which all threads share one.
class LegacyDefaultStream final : public Stream {
 public:
  [[nodiscard]] void* native() const noexcept override { return cudaStreamLegacy; }
};

/// The CUDA handles of a Stream and an Event of a CUDA device. An event of
/// another device throws std::bad_cast, a stream Error(internal).
[[nodiscard]] cudaStream_t stream_of(const Stream& stream);
[[nodiscard]] cudaEvent_t event_of(const Event& event);

}  // namespace cachebisect::cuda
