# Sets `result` to the architectures that a CUDA toolkit of this version compiles for: one per major
# compute capability, whose code runs on the later ones of the same major, and PTX for the last, which
# drivers compile for later architectures. 7.5 (Turing) is the oldest.
function(cachebisect_cuda_architectures version result)
  set(architectures 75-real)
  if(version VERSION_GREATER_EQUAL 12.8)
    list(APPEND architectures 80-real 90-real 100-real 120)
  elseif(version VERSION_GREATER_EQUAL 11.8)
    list(APPEND architectures 80-real 90)
  else()
    list(APPEND architectures 80)
  endif()
  set(${result} ${architectures} PARENT_SCOPE)
endfunction()
