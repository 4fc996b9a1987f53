// A local server that gives the files of a folder as slowly as a model of storage says.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/base/file_descriptor.hpp"
#include "cachebisect/emulator/http_connection.hpp"
#include "cachebisect/emulator/object_service.hpp"
#include "cachebisect/storage/storage_model.hpp"

namespace cachebisect {

struct EmulatorOptions {
  std::string folder;
  std::string address = "127.0.0.1";
  int port = 0;  ///< 0: a free one
  StorageSettings storage;
};

class CACHEBISECT_INTERNAL_API StorageEmulator {
 public:
  /// Listens from now on. Throws Error(usage) that names the folder, the address, the setting or
  /// what this build lacks.
  explicit StorageEmulator(const EmulatorOptions& options);

  /// "http://127.0.0.1:8000"
  [[nodiscard]] std::string url() const;
  /// Answers until the stop; then ends all connections. Call it once.
  EmulatorTotals serve(const std::stop_token& stop);

 private:
  ServeConnection serve_connection_;
  ObjectService service_;
  std::string address_;
  FileDescriptor listener_;
};

}  // namespace cachebisect
