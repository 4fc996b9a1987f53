# The three parts of OpenCV that stages use, as the targets opencv_core, opencv_imgproc and
# opencv_imgcodecs. Debian's OpenCVConfig.cmake requires every part (with VTK and others), so the
# three are searched one by one if it fails.
set(opencv_parts core imgproc imgcodecs)
find_package(OpenCV QUIET COMPONENTS ${opencv_parts})
if(OpenCV_FOUND)
  return()
endif()
find_path(OPENCV_INCLUDE_DIR opencv2/core.hpp PATH_SUFFIXES opencv4)
foreach(part ${opencv_parts})
  find_library(OPENCV_${part}_LIBRARY opencv_${part})
  if(NOT OPENCV_INCLUDE_DIR OR NOT OPENCV_${part}_LIBRARY)
    message(FATAL_ERROR "OpenCV ${part} was not found: install libopencv-${part}-dev, set OpenCV_DIR, "
                        "or build without it: -DCACHEBISECT_WITH_OPENCV=OFF")
  endif()
  add_library(opencv_${part} UNKNOWN IMPORTED)
  set_target_properties(opencv_${part} PROPERTIES
    IMPORTED_LOCATION ${OPENCV_${part}_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${OPENCV_INCLUDE_DIR}
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${OPENCV_INCLUDE_DIR})
endforeach()
set(OpenCV_INCLUDE_DIRS ${OPENCV_INCLUDE_DIR})
