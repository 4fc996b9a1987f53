// Lists of machines of `plan`, and ladders of `tune`.
#include <cmath>

#include "fuzz/fuzz_target.hpp"

#include "cachebisect/plan/machines.hpp"
#include "cachebisect/tune/ladder_json.hpp"

using namespace cachebisect;
using namespace cachebisect::fuzz;

extern "C" int CACHEBISECT_FUZZ_ENTRY(lists)(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(data, size);
  takes({ErrorKind::usage}, [&] {
    const auto machines = plan::parse_machines(text, "fuzz");
    require(!machines.empty(), "a list has a machine");
    for (const plan::Machine& machine : machines) {
      require(machine.cores > 0 && machine.accelerators > 0 && std::isfinite(machine.cores_each()),
              "a machine has cores");
    }
  });
  takes({ErrorKind::usage}, [&] {
    const std::string written = tune::to_json(tune::read_ladder(text, "fuzz"));
    require(tune::to_json(tune::read_ladder(written, "again")) == written,
            "a ladder that was read is written and read again");
  });
  return 0;
}
