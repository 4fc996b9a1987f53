// The JSON of a report, as the command writes it.
#pragma once

#include <sstream>
#include <string>

#include "cachebisect/report/writers.hpp"

namespace cachebisect::test {

inline std::string json_text(const Report& report) {
  std::ostringstream out;
  write_json(report, out);
  return out.str();
}

}  // namespace cachebisect::test
