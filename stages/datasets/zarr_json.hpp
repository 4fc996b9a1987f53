// Access to the JSON of Zarr's metadata, which names the file and the place of what is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cachebisect/data/shape.hpp"

namespace cachebisect::stages {

/// A value in a document, which must outlive it. All calls throw Error(data).
class ZarrJson {
 public:
  ZarrJson(const nlohmann::json& value, std::string place)
      : value_(&value), place_(std::move(place)) {}

  /// Whether there is a member of this name that is not null.
  [[nodiscard]] bool has(const char* key) const;
  [[nodiscard]] ZarrJson operator[](const char* key) const;
  [[nodiscard]] std::vector<ZarrJson> items() const;
  [[nodiscard]] std::string text() const;
  /// One to six extents from `least` on.
  [[nodiscard]] Shape extents(std::int64_t least) const;
  [[nodiscard]] const nlohmann::json& value() const noexcept { return *value_; }

  /// Throws Error(data) "place what".
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  const nlohmann::json* value_;
  std::string place_;  ///< "/data/x/zarr.json: codecs"
};

}  // namespace cachebisect::stages
