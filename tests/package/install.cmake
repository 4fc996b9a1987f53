# Installs the build tree BUILD below PREFIX, without what an earlier installation left there.
#   cmake -DBUILD=DIR -DPREFIX=DIR -P install.cmake
file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX} COMMAND_ERROR_IS_FATAL ANY)
