# Where `cmake --install` puts each file, and the package for find_package(cachebisect CONFIG).
if(CACHEBISECT_STATIC)
  # The command alone; in a wheel, below the environment's scripts and data.
  set(bin_dir ${CMAKE_INSTALL_BINDIR})
  set(data_dir ${CMAKE_INSTALL_DATADIR})
  if(SKBUILD)
    set(bin_dir ${SKBUILD_SCRIPTS_DIR})
    set(data_dir ${SKBUILD_DATA_DIR}/share)
    # Starts the hook of `cachebisect run` where PYTHONPATH is not heeded.
    install(FILES python/cachebisect.pth DESTINATION ${SKBUILD_PLATLIB_DIR})
  endif()
  install(TARGETS cli RUNTIME DESTINATION ${bin_dir})
  install(DIRECTORY pipelines/ DESTINATION ${data_dir}/cachebisect/pipelines FILES_MATCHING PATTERN "*.json")
  install(DIRECTORY ${CMAKE_BINARY_DIR}/share/ DESTINATION ${data_dir})
  return()
endif()

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/cachebisect)

install(TARGETS core stages EXPORT cachebisect
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
foreach(module imgcodecs hdf5 parquet audio video http_server)
  if(TARGET ${module}_module)
    install(TARGETS ${module}_module LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/cachebisect)
  endif()
endforeach()
if(TARGET torch_module)
  install(TARGETS torch_module EXPORT cachebisect
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/cachebisect)
  if(TARGET torch_graph)
    install(TARGETS torch_graph LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/cachebisect)
  endif()
  install(TARGETS torch_name LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/cachebisect/torch_package)
endif()

# Headers are installed by list; tests/unit/structure/public_headers_test.cpp keeps the list right.
set(public_headers_file ${PROJECT_SOURCE_DIR}/cmake/public_headers.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${public_headers_file})
file(STRINGS ${public_headers_file} public_headers REGEX "^[^#]")
foreach(header IN LISTS public_headers)
  find_file(header_path ${header} REQUIRED NO_CACHE NO_DEFAULT_PATH
    PATHS ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/stages/include ${PROJECT_BINARY_DIR}/generated)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${header_path} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
  unset(header_path)
endforeach()
install(DIRECTORY pipelines/ DESTINATION ${CMAKE_INSTALL_DATADIR}/cachebisect/pipelines
  FILES_MATCHING PATTERN "*.json")

# Completion and man page.
install(DIRECTORY ${CMAKE_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR})

install(EXPORT cachebisect NAMESPACE cachebisect:: FILE cachebisectTargets.cmake
  DESTINATION ${package_dir})
configure_package_config_file(cmake/cachebisectConfig.cmake.in
  ${PROJECT_BINARY_DIR}/cachebisectConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cachebisectConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cachebisectConfig.cmake
  ${PROJECT_BINARY_DIR}/cachebisectConfigVersion.cmake DESTINATION ${package_dir})
