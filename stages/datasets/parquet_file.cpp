#include "stages/datasets/parquet_file.hpp"

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/own_module.hpp"

namespace cachebisect::stages {

std::unique_ptr<ParquetFile> open_parquet(const ParquetRequest& request) {
#ifdef CACHEBISECT_WITH_PARQUET
  constexpr const char* kFunction = "cachebisect_parquet_open";
  const auto open =
      open_own_module("libcachebisect_parquet.so", kFunction)->function<OpenParquet>(kFunction);
  return std::unique_ptr<ParquetFile>(open(request));
#else
  throw Error(ErrorKind::usage,
              request.file +
                  ": this build has no Parquet (Arrow C++); build with CACHEBISECT_WITH_PARQUET=ON "
                  "where Arrow C++ or pyarrow is installed");
#endif
}

}  // namespace cachebisect::stages
