// Drivers, devices and errors of the stub runtime.
#include <cstring>
#include <string>
#include <utility>

#include "cuda_stub/state.hpp"

using cuda_stub::Machine;
using cuda_stub::Needs;

extern "C" {

cudaError_t cudaDriverGetVersion(int* version) {
  const std::scoped_lock lock(cuda_stub::mutex());
  const Machine::State* machine = cuda_stub::present();
  *version = machine == nullptr ? 0 : machine->options.driver;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  return cuda_stub::api("cudaGetDeviceCount", Needs::driver, [&](Machine::State& machine) {
    *count = machine.options.devices;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDevice(int* ordinal) {
  return cuda_stub::api("cudaGetDevice", Needs::driver, [&](Machine::State& /*machine*/) {
    *ordinal = cuda_stub::this_thread().device;
    return cudaSuccess;
  });
}

// Since CUDA 12 it makes the device's context.
cudaError_t cudaSetDevice(int ordinal) {
  return cuda_stub::api("cudaSetDevice", Needs::driver, [&](Machine::State& machine) {
    if (ordinal < 0 || ordinal >= machine.options.devices) return cudaErrorInvalidDevice;
    cuda_stub::this_thread().device = ordinal;
    machine.contexts.insert(ordinal);
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int ordinal) {
  return cuda_stub::api("cudaGetDeviceProperties", Needs::driver, [&](Machine::State& machine) {
    if (ordinal < 0 || ordinal >= machine.options.devices) return cudaErrorInvalidDevice;
    *properties = {};
    const std::string name = "Virtual GPU " + std::to_string(ordinal);
    std::memcpy(properties->name, name.c_str(), name.size() + 1);
    properties->uuid.bytes[15] = static_cast<char>(ordinal);
    properties->major = 9;
    properties->minor = 0;
    properties->l2CacheSize = 1 << 20;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int ordinal) {
  return cuda_stub::api("cudaDeviceGetPCIBusId", Needs::driver, [&](Machine::State& machine) {
    if (ordinal < 0 || ordinal >= machine.options.devices) return cudaErrorInvalidDevice;
    const std::string id = "0000:" + std::to_string(10 + ordinal) + ":00.0";
    if (size <= static_cast<int>(id.size())) return cudaErrorInvalidValue;
    std::memcpy(text, id.c_str(), id.size() + 1);
    return cudaSuccess;
  });
}

cudaError_t cudaGetLastError() {
  const std::scoped_lock lock(cuda_stub::mutex());
  const Machine::State* machine = cuda_stub::present();
  const cudaError_t lost = machine == nullptr ? cudaSuccess : machine->failures.lost();
  cudaError_t& last = cuda_stub::this_thread().last;
  return lost != cudaSuccess ? lost : std::exchange(last, cudaSuccess);
}

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorInsufficientDriver:
      return "cudaErrorInsufficientDriver";
    case cudaErrorNoDevice:
      return "cudaErrorNoDevice";
    case cudaErrorInvalidDevice:
      return "cudaErrorInvalidDevice";
    case cudaErrorIllegalAddress:
      return "cudaErrorIllegalAddress";
    case cudaErrorAssert:
      return "cudaErrorAssert";
    case cudaErrorLaunchFailure:
      return "cudaErrorLaunchFailure";
    default:
      return "cudaErrorOther";
  }
}

const char* cudaGetErrorString(cudaError_t /*error*/) { return "as the stub runtime was told"; }

}  // extern "C"
