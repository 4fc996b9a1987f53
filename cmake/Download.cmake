# Third-party sources that the machine lacks. Each has two places with the same sources: the
# project's own release, and Debian's mirror for networks that reach only package repositories.

# Downloads and unpacks the first of `URL SHA256 URL SHA256 ...` that can be had, once per build
# folder, and sets `folder` to where its top folder lies.
function(download_source folder name)
  set(unpacked ${CMAKE_BINARY_DIR}/third_party/${name})
  set(${folder} ${unpacked} PARENT_SCOPE)
  if(EXISTS ${unpacked})
    return()
  endif()
  set(archive ${unpacked}.archive)
  set(reasons "")
  while(ARGN)
    list(POP_FRONT ARGN url hash)
    message(STATUS "${name}: not on this machine; downloading ${url}")
    file(DOWNLOAD ${url} ${archive} STATUS status TIMEOUT 300 INACTIVITY_TIMEOUT 20)
    file(SHA256 ${archive} actual)
    if(actual STREQUAL hash)
      file(ARCHIVE_EXTRACT INPUT ${archive} DESTINATION ${unpacked})
      file(REMOVE ${archive})
      if(EXISTS ${unpacked}/data.tar.xz)  # of a Debian package
        file(ARCHIVE_EXTRACT INPUT ${unpacked}/data.tar.xz DESTINATION ${unpacked})
      endif()
      return()
    endif()
    list(APPEND reasons "  ${url}: ${status}, SHA-256 ${actual}, expected ${hash}")
  endwhile()
  file(REMOVE ${archive})
  list(JOIN reasons "\n" reasons)
  message(FATAL_ERROR "${name} is missing and could not be downloaded. Install it (scripts/setup names the "
    "packages), or set CMAKE_PREFIX_PATH to where it is.\n${reasons}")
endfunction()

# find_path() for a header, which is downloaded if it is missing and CACHEBISECT_DOWNLOAD is ON.
function(find_or_download_header variable header name)
  find_path(${variable} ${header})
  if(NOT ${variable} AND CACHEBISECT_DOWNLOAD)
    download_source(folder ${name} ${ARGN})
    file(GLOB places ${folder}/*/include ${folder}/*)
    find_path(${variable} ${header} REQUIRED NO_DEFAULT_PATH PATHS ${places})
  endif()
  find_path(${variable} ${header} REQUIRED)
endfunction()

# zlib as ZLIB::ZLIB from downloaded sources, in C: the part that decompresses.
function(add_downloaded_zlib)
  download_source(folder zlib ${ARGN})
  file(GLOB source ${folder}/zlib-*)
  add_library(zlib_inflate STATIC)
  foreach(file adler32 crc32 inffast inflate inftrees zutil)
    target_sources(zlib_inflate PRIVATE ${source}/${file}.c)
  endforeach()
  target_include_directories(zlib_inflate SYSTEM PUBLIC ${source})
  add_library(ZLIB::ZLIB ALIAS zlib_inflate)
endfunction()
