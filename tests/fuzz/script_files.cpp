// What the hook in a script's process has written: times of batches, what the loader did, traces.
#include <cmath>

#include "fuzz/fuzz_target.hpp"

#include "cachebisect/observe/script_loading.hpp"
#include "cachebisect/observe/script_loop.hpp"
#include "cachebisect/prepare/script_prepare.hpp"
#include "cachebisect/profile/step_trace.hpp"
#include "cachebisect/timing/script_times.hpp"
#include "cachebisect/timing/timing_files.hpp"

using namespace cachebisect;
using namespace cachebisect::fuzz;

namespace {

void check_timing(const std::string& text) {
  takes({ErrorKind::data}, [&] {
    const TimingRecord record =
        timing_record_of(read_script_loop(text), {"python", "train.py"}, {.epochs = 1});
    require(record.runs.size() == 1, "a script has one run");
    for (const BatchTimes& batch : record.runs.front().batches) {
      for (const double seconds : batch.seconds) {
        require(seconds >= 0 && seconds <= batch.total_seconds, "a part is no more than its batch");
      }
    }
    require(!timing_text(record, {}).empty(), "times have a text");
    for (const TimingFile& file : timing_files()) {
      if (file.text != nullptr) static_cast<void>(file.text(record));
      if (file.picture != nullptr) static_cast<void>(file.picture(record));
    }
  });
}

}  // namespace

extern "C" int CACHEBISECT_FUZZ_ENTRY(script_files)(const std::uint8_t* data, std::size_t size) {
  const std::string text(text_of(data, size));
  check_timing(text);
  takes({ErrorKind::data}, [&] {
    for (const auto& worker : read_script_loading(text).workers) {
      for (const auto& batch : worker) {
        require(batch.began <= batch.collating && batch.collating <= batch.ended,
                "a batch ends after it began");
      }
    }
  });
  takes({ErrorKind::data}, [&] { static_cast<void>(profile::read_step_trace(text)); });
  takes({ErrorKind::data, ErrorKind::usage},
        [&] { static_cast<void>(prepare::read_script_prepare(text)); });
  return 0;
}
