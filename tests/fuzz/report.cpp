// A recorded report: what is read is written and read again, analysed again, and shown in every
// format.
#include <sstream>

#include "fuzz/fuzz_target.hpp"

#include "cachebisect/bisect/reanalyse.hpp"
#include "cachebisect/report/json/read_report.hpp"
#include "cachebisect/report/writers.hpp"
#include "cachebisect/report/writers/formats.hpp"

using namespace cachebisect;
using namespace cachebisect::fuzz;

namespace {

std::string json_of(const Report& report) {
  std::ostringstream out;
  write_json(report, out);
  return out.str();
}

void show(const Report& report) {
  require(!to_text(report).empty(), "a report has a text");
  for (const ReportFormat& format : report_formats()) {
    require(!format.write(report, {.explain = true}).empty(), "a report has every format");
  }
}

}  // namespace

extern "C" int CACHEBISECT_FUZZ_ENTRY(report)(const std::uint8_t* data, std::size_t size) {
  Report report;
  const std::string_view text = text_of(data, size);
  if (!takes({ErrorKind::usage}, [&] { report = read_report(text, "fuzz"); })) return 0;
  const std::string written = json_of(report);
  require(json_of(read_report(written, "again")) == written,
          "a report that was read is written and read again");
  show(report);
  if (!report.recording) return 0;
  takes({ErrorKind::usage}, [&] { show(reanalyse(report, {.what_ifs = {"workers=4"}})); });
  return 0;
}
