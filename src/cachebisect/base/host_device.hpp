// Marks functions that both the host and kernels call. Included by nvcc in C++17.
#pragma once

#ifdef __CUDACC__
#define CACHEBISECT_HOST_DEVICE __host__ __device__
#else
#define CACHEBISECT_HOST_DEVICE
#endif
