// An interval to draw a number from.
#pragma once

namespace cachebisect::stages {

struct Range {
  double low = 0;
  double high = 0;
};

}  // namespace cachebisect::stages
