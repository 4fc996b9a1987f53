#include "cachebisect/device/cuda/cuda_handles.hpp"

#include <algorithm>
#include <utility>

#include "cachebisect/base/error.hpp"
#include "cachebisect/device/cuda/cuda_error.hpp"

namespace cachebisect::cuda {

CudaEvent::CudaEvent(int ordinal, Wait wait) : ordinal_(ordinal) {
  use_device(ordinal);
  const unsigned flags = wait == Wait::block ? cudaEventBlockingSync : cudaEventDefault;
  check(cudaEventCreateWithFlags(&event_, flags), "cudaEventCreateWithFlags");
}

CudaEvent::~CudaEvent() {
  try_use_device(ordinal_);
  (void)cudaEventDestroy(event_);
}

void StreamList::add(cudaStream_t stream) {
  const std::scoped_lock lock(mutex_);
  streams_.push_back(stream);
}

void StreamList::remove(cudaStream_t stream) noexcept {
  const std::scoped_lock lock(mutex_);
  std::erase(streams_, stream);
}

bool StreamList::idle() const noexcept {
  const std::scoped_lock lock(mutex_);
  // A lost device has nothing left to do.
  return std::none_of(streams_.begin(), streams_.end(), [](cudaStream_t stream) {
    return cudaStreamQuery(stream) == cudaErrorNotReady;
  });
}

CudaStream::CudaStream(int ordinal, std::shared_ptr<StreamList> list)
    : ordinal_(ordinal), list_(std::move(list)), tail_(ordinal) {
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  list_->add(stream_);
}

CudaStream::~CudaStream() {
  list_->remove(stream_);
  try_use_device(ordinal_);
  (void)cudaStreamDestroy(stream_);
}

void CudaStream::drain() {
  check(cudaEventRecord(tail_.get(), stream_), "cudaEventRecord");
  check(cudaEventSynchronize(tail_.get()), "cudaEventSynchronize");
}

cudaStream_t stream_of(const Stream& stream) {
  void* const handle = stream.native();
  if (handle == nullptr) throw Error(ErrorKind::internal, "the stream is not one of a CUDA device");
  return static_cast<cudaStream_t>(handle);
}

cudaEvent_t event_of(const Event& event) { return dynamic_cast<const CudaEvent&>(event).get(); }

}  // namespace cachebisect::cuda
