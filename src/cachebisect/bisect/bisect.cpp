#include "cachebisect/bisect/bisect.hpp"

#include "cachebisect/bisect/measure.hpp"
#include "cachebisect/bisect/report/analysis.hpp"
#include "cachebisect/bisect/report/assemble.hpp"

namespace cachebisect {

Report bisect(Replayer& replayer, const BisectOptions& options) {
  const Measurements measured = measure(replayer, options);
  return assemble(measured, analyse(measured));
}

}  // namespace cachebisect
