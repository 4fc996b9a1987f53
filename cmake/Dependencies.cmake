# Third-party packages. Header-only ones are also found by CMAKE_PREFIX_PATH or CPLUS_INCLUDE_PATH.
include(Download)
set(debian http://deb.debian.org/debian/pool/main)
find_package(Threads REQUIRED)
find_or_download_header(NLOHMANN_JSON_INCLUDE_DIR nlohmann/json.hpp nlohmann-json
  https://github.com/nlohmann/json/releases/download/v3.11.2/json.tar.xz
  8c4b26bf4b422252e13f332bc5e388ec0ab5c3443d24399acb675e68278d341f
  ${debian}/n/nlohmann-json3/nlohmann-json3_3.11.2.orig.tar.gz
  d69f9deb6a75e2580465c6c4c5111b89c4dc2fa94e3a85fcd2ffcd9a143d9273)
find_or_download_header(XXHASH_INCLUDE_DIR xxhash.h xxhash
  https://github.com/Cyan4973/xxHash/archive/v0.8.1.tar.gz
  3bb6b7d6f30c591dd65aaaff1c8b7a5b94d81687998ca9400082c739a690436c
  ${debian}/x/xxhash/xxhash_0.8.1.orig.tar.gz
  3bb6b7d6f30c591dd65aaaff1c8b7a5b94d81687998ca9400082c739a690436c)
find_or_download_header(CLI11_INCLUDE_DIR CLI/CLI.hpp cli11
  https://github.com/CLIUtils/CLI11/archive/v2.1.2.tar.gz
  26291377e892ba0e5b4972cdfd4a2ab3bf53af8dac1f4ea8fe0d1376b625c8cb
  ${debian}/c/cli11/cli11_2.1.2+ds.orig.tar.xz
  8143d20b688e98ccce8e24562d3b68e5f47c12e896c42c7ca8553dbde5bed55d)
set(ZLIB_USE_STATIC_LIBS ${CACHEBISECT_STATIC})
find_package(ZLIB)
if(NOT ZLIB_FOUND AND CACHEBISECT_DOWNLOAD)
  enable_language(C)
  add_downloaded_zlib(
    https://github.com/madler/zlib/releases/download/v1.2.13/zlib-1.2.13.tar.gz
    b3a24de97a8fdbc835b9833169501030b8977031bcb54b3b3ac13740f846ab30
    ${debian}/z/zlib/zlib_1.2.13.dfsg.orig.tar.bz2
    71feb7947e3c00ef125f83b79a4e529bde31171e5babe48b391f06758d1ab0a1)
elseif(NOT ZLIB_FOUND)
  find_package(ZLIB REQUIRED)
endif()
if(CACHEBISECT_BUILD_TESTS)
  find_path(DOCTEST_INCLUDE_DIR doctest/doctest.h PATH_SUFFIXES . REQUIRED)
endif()
if(CACHEBISECT_WITH_TURBOJPEG)
  find_path(TURBOJPEG_INCLUDE_DIR turbojpeg.h REQUIRED)
  find_library(TURBOJPEG_LIBRARY turbojpeg REQUIRED)
  find_library(JPEG_LIBRARY jpeg REQUIRED)
endif()
if(CACHEBISECT_WITH_SQLITE)
  find_package(SQLite3 REQUIRED)
endif()
if(CACHEBISECT_WITH_CODECS)
  find_path(LZ4_INCLUDE_DIR lz4.h REQUIRED)
  find_library(LZ4_LIBRARY lz4 REQUIRED)
  find_path(ZSTD_INCLUDE_DIR zstd.h REQUIRED)
  find_library(ZSTD_LIBRARY zstd REQUIRED)
endif()
if(CACHEBISECT_WITH_OPENCV)
  include(OpenCVParts)
endif()
# libcurl itself is opened at run time: it loads thirty libraries.
set(CACHEBISECT_HAS_HTTP_CLIENT OFF)
if(CACHEBISECT_WITH_HTTP_CLIENT AND NOT CACHEBISECT_STATIC)
  find_path(CURL_INCLUDE_DIR curl/curl.h PATH_SUFFIXES ${CMAKE_LIBRARY_ARCHITECTURE})
  if(CURL_INCLUDE_DIR)
    set(CACHEBISECT_HAS_HTTP_CLIENT ON)
  else()
    message(STATUS "libcurl not found (Debian's libcurl4-openssl-dev): built without doctor --url")
  endif()
endif()
set(CACHEBISECT_HAS_HTTP_SERVER OFF)
if(CACHEBISECT_WITH_HTTP_SERVER AND NOT CACHEBISECT_STATIC)
  # Versions in which process_request() takes a stream alone.
  find_path(HTTPLIB_INCLUDE_DIR httplib.h)
  find_library(HTTPLIB_LIBRARY cpp-httplib)
  set(httplib_version none)
  if(HTTPLIB_INCLUDE_DIR)
    file(STRINGS ${HTTPLIB_INCLUDE_DIR}/httplib.h httplib_version REGEX "define CPPHTTPLIB_VERSION ")
    string(REGEX MATCH "[0-9]+\\.[0-9]+" httplib_version "${httplib_version}")
  endif()
  if(httplib_version VERSION_GREATER_EQUAL 0.11 AND httplib_version VERSION_LESS 0.15)
    set(CACHEBISECT_HAS_HTTP_SERVER ON)
  else()
    message(STATUS "cpp-httplib 0.11 to 0.14 not found (Debian's libcpp-httplib-dev; here: ${httplib_version}): "
                   "built without storage-emulator")
  endif()
endif()
if(NOT CACHEBISECT_WITH_CUDA STREQUAL "OFF")
  find_package(CUDAToolkit QUIET)
  if(NOT CUDAToolkit_FOUND AND CACHEBISECT_WITH_CUDA STREQUAL "ON")
    message(FATAL_ERROR "CACHEBISECT_WITH_CUDA=ON, but no CUDA toolkit was found; set CUDAToolkit_ROOT")
  endif()
endif()
set(CACHEBISECT_HAS_CUDA ${CUDAToolkit_FOUND})
if(CACHEBISECT_HAS_CUDA)
  include(CudaCompiles)
  set(nvcc ${CUDAToolkit_NVCC_EXECUTABLE})
  if(CMAKE_CUDA_COMPILER)
    set(nvcc ${CMAKE_CUDA_COMPILER})
  elseif(DEFINED ENV{CUDACXX})
    set(nvcc $ENV{CUDACXX})
  endif()
  set(host ${CMAKE_CXX_COMPILER})
  if(CMAKE_CUDA_HOST_COMPILER)
    set(host ${CMAKE_CUDA_HOST_COMPILER})
  elseif(DEFINED ENV{CUDAHOSTCXX})
    set(host $ENV{CUDAHOSTCXX})
  endif()
  cachebisect_cuda_compiles("${nvcc}" "${host}" CACHEBISECT_HAS_CUDA problem)
  if(NOT CACHEBISECT_HAS_CUDA)
    string(CONCAT problem "CUDA ${CUDAToolkit_VERSION} (${nvcc}) does not compile with ${host}: ${problem}; "
                          "install a newer toolkit, or choose an older compiler with CMAKE_CUDA_HOST_COMPILER")
    if(CACHEBISECT_WITH_CUDA STREQUAL "ON")
      message(FATAL_ERROR "CACHEBISECT_WITH_CUDA=ON, but ${problem}")
    endif()
    message(STATUS "CUDA: built without. ${problem}")
  endif()
endif()
