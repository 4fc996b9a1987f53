# Sets `result` to whether the nvcc given compiles C++17 with this host compiler, and `output` to what it
# said. An nvcc knows compilers up to its own age: Ubuntu's 11.5 and 12.0 fail in the headers of newer ones.
# Asked again only after another nvcc or compiler was chosen.
function(cachebisect_cuda_compiles nvcc host result output)
  if(NOT CACHEBISECT_CUDA_PROBED STREQUAL "${nvcc} ${host}")
    set(folder ${CMAKE_BINARY_DIR}/cuda_probe)
    file(WRITE ${folder}/probe.cu
      "#include <functional>\n#include <string>\n#include <vector>\n"
      "__global__ void twice(float* x) { x[threadIdx.x] *= 2; }\n"
      "std::function<std::string(const std::vector<int>&)> f;\n")
    execute_process(COMMAND ${nvcc} -std=c++17 -ccbin ${host} -c probe.cu -o probe.o WORKING_DIRECTORY ${folder}
                    RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
    set(compiles OFF)
    if(status EQUAL 0)
      set(compiles ON)
    endif()
    string(REGEX MATCH "[^\n]*error[^\n]*" first_error "${said}")
    set(CACHEBISECT_CUDA_PROBED "${nvcc} ${host}" CACHE INTERNAL "")
    set(CACHEBISECT_CUDA_COMPILES ${compiles} CACHE INTERNAL "")
    set(CACHEBISECT_CUDA_PROBE_ERROR "${first_error}" CACHE INTERNAL "")
  endif()
  set(${result} ${CACHEBISECT_CUDA_COMPILES} PARENT_SCOPE)
  set(${output} "${CACHEBISECT_CUDA_PROBE_ERROR}" PARENT_SCOPE)
endfunction()
