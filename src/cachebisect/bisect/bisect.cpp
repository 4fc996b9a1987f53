#include "cachebisect/bisect/bisect.hpp"

#include "cachebisect/bisect/analysis.hpp"
#include "cachebisect/bisect/assemble.hpp"
#include "cachebisect/bisect/measure.hpp"

namespace cachebisect {

Report bisect(Replayer& replayer, const BisectOptions& options) {
  const Measurements measured = measure(replayer, options);
  return assemble(measured, analyse(measured));
}

}  // namespace cachebisect
