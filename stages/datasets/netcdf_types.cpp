#include "stages/datasets/netcdf_types.hpp"

#include <bit>

namespace cachebisect::stages {

std::optional<ClassicType> classic_type(std::uint32_t number) {
  switch (number) {
    case 1:
      return ClassicType{1, StoredType::int8};
    case 2:
      return ClassicType{1, std::nullopt};
    case 3:
      return ClassicType{2, StoredType::int16};
    case 4:
      return ClassicType{4, StoredType::int32};
    case 5:
      return ClassicType{4, StoredType::float32};
    case 6:
      return ClassicType{8, StoredType::float64};
    case 7:
      return ClassicType{1, StoredType::uint8};
    case 8:
      return ClassicType{2, StoredType::uint16};
    case 9:
      return ClassicType{4, StoredType::uint32};
    case 10:
      return ClassicType{8, StoredType::int64};
    case 11:
      return ClassicType{8, StoredType::uint64};
    default:
      return std::nullopt;
  }
}

std::optional<double> classic_fill(StoredType type) {
  switch (type) {
    case StoredType::int16:
      return -32'767;
    case StoredType::uint16:
      return 65'535;
    case StoredType::int32:
      return -2'147'483'647;
    case StoredType::uint32:
      return 4'294'967'295;
    case StoredType::int64:
      return -9'223'372'036'854'775'806.0;
    case StoredType::uint64:
      return 18'446'744'073'709'551'614.0;
    case StoredType::float32:
    case StoredType::float64:
      return 9.9692099683868690e+36;
    default:
      return std::nullopt;
  }
}

double classic_number(StoredType type, std::uint64_t bits) {
  switch (type) {
    case StoredType::int8:
      return static_cast<std::int8_t>(bits);
    case StoredType::int16:
      return static_cast<std::int16_t>(bits);
    case StoredType::int32:
      return static_cast<std::int32_t>(bits);
    case StoredType::int64:
      return static_cast<double>(static_cast<std::int64_t>(bits));
    case StoredType::float32:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case StoredType::float64:
      return std::bit_cast<double>(bits);
    default:
      return static_cast<double>(bits);
  }
}

}  // namespace cachebisect::stages
