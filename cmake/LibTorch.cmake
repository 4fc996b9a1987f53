# LibTorch as the target cachebisect_libtorch. find_package(Torch) would require a CUDA toolkit; the
# module links only libtorch_cpu and libc10, and opens libtorch_cuda at run time.
# Sets CACHEBISECT_HAS_TORCH.
file(GLOB venv_torch ${PROJECT_SOURCE_DIR}/build/venv/lib/python3*/site-packages/torch)
set(CACHEBISECT_TORCH_DIR "" CACHE PATH "LibTorch: the folder with include/ and lib/ (default: build/venv, then CMAKE_PREFIX_PATH)")
find_path(torch_include torch/csrc/api/include/torch/nn.h NO_CACHE
  HINTS ${CACHEBISECT_TORCH_DIR} ${venv_torch} PATH_SUFFIXES include)
set(CACHEBISECT_HAS_TORCH OFF)
if(NOT torch_include)
  message(STATUS "LibTorch: not found; the module with mlp, lenet and resnet is not built; "
                 "run scripts/setup or set CACHEBISECT_TORCH_DIR")
  return()
endif()
get_filename_component(torch_root ${torch_include} DIRECTORY)
find_library(torch_cpu_library torch_cpu NO_CACHE REQUIRED HINTS ${torch_root}/lib NO_DEFAULT_PATH)
find_library(c10_library c10 NO_CACHE REQUIRED HINTS ${torch_root}/lib NO_DEFAULT_PATH)
message(STATUS "LibTorch: ${torch_root}")

add_library(cachebisect_libtorch INTERFACE)
target_include_directories(cachebisect_libtorch SYSTEM INTERFACE
  ${torch_include} ${torch_include}/torch/csrc/api/include)
# libtorch_cpu registers its operators in static initialisers: it must stay linked.
target_link_libraries(cachebisect_libtorch INTERFACE
  -Wl,--push-state,--no-as-needed ${torch_cpu_library} ${c10_library} -Wl,--pop-state)
# PyPI's wheels keep the CUDA run-time libraries in a folder next to torch.
set(CACHEBISECT_LIBTORCH_LIB_DIR ${torch_root}/lib)
set(CACHEBISECT_TORCH_RPATH ${CACHEBISECT_LIBTORCH_LIB_DIR})
get_filename_component(site_packages ${torch_root} DIRECTORY)
# One folder for CUDA 13, one per library for CUDA 12.
file(GLOB cuda_folders ${site_packages}/nvidia/*/lib)
foreach(folder ${cuda_folders})
  list(APPEND CACHEBISECT_TORCH_RPATH ${folder})
  target_link_options(cachebisect_libtorch INTERFACE -Wl,-rpath-link,${folder})
endforeach()
set(CACHEBISECT_HAS_TORCH ON)
