#include "cachebisect/device/cuda/cuda_handles.hpp"

#include "cachebisect/device/cuda/cuda_error.hpp"

namespace cachebisect::cuda {

CudaEvent::CudaEvent() {
  check(cudaEventCreateWithFlags(&event_, cudaEventBlockingSync), "cudaEventCreateWithFlags");
}

CudaEvent::~CudaEvent() { (void)cudaEventDestroy(event_); }

CudaStream::CudaStream() {
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
}

CudaStream::~CudaStream() { (void)cudaStreamDestroy(stream_); }

void CudaStream::drain() {
  check(cudaEventRecord(tail_.get(), stream_), "cudaEventRecord");
  check(cudaEventSynchronize(tail_.get()), "cudaEventSynchronize");
}

cudaStream_t stream_of(Stream& stream) { return dynamic_cast<CudaStream&>(stream).get(); }

cudaEvent_t event_of(const Event& event) { return dynamic_cast<const CudaEvent&>(event).get(); }

}  // namespace cachebisect::cuda
