# What `cmake --install` puts where, and the package that find_package(cachebisect CONFIG) reads.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/cachebisect)

install(TARGETS core stages EXPORT cachebisect
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET imgcodecs_module)
  install(TARGETS imgcodecs_module LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/cachebisect)
endif()
if(TARGET imgcodecs_module)
  install(TARGETS imgcodecs_module LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/cachebisect)
endif()
if(TARGET torch_module)
  install(TARGETS torch_module EXPORT cachebisect
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/cachebisect)
endif()

install(DIRECTORY src/cachebisect stages/include/ ${PROJECT_BINARY_DIR}/generated/
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp" PATTERN "device/cuda" EXCLUDE PATTERN "pipeline/spec" EXCLUDE)
install(DIRECTORY pipelines/ DESTINATION ${CMAKE_INSTALL_DATADIR}/cachebisect/pipelines
  FILES_MATCHING PATTERN "*.json")

install(EXPORT cachebisect NAMESPACE cachebisect:: FILE cachebisectTargets.cmake
  DESTINATION ${package_dir})
configure_package_config_file(cmake/cachebisectConfig.cmake.in
  ${PROJECT_BINARY_DIR}/cachebisectConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cachebisectConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cachebisectConfig.cmake
  ${PROJECT_BINARY_DIR}/cachebisectConfigVersion.cmake DESTINATION ${package_dir})
