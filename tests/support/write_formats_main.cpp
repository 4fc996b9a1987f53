// Writes two reports in every file format, DIR/drop/* and DIR/hostile/*, for readers of others
// (tests/readers).
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "golden/hostile_report.hpp"
#include "golden/sample_report.hpp"

#include "cachebisect/report/writers/formats.hpp"

namespace {

void write_all(const cachebisect::Report& report, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (const cachebisect::ReportFormat& format : cachebisect::report_formats()) {
    std::ofstream file(folder / format.file, std::ios::binary);
    file.exceptions(std::ios::failbit | std::ios::badbit);
    file << format.write(report);
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    std::cerr << "usage: write_formats DIR\n";
    return 2;
  }
  try {
    write_all(cachebisect::test::sample_report(), std::filesystem::path(words[1]) / "drop");
    write_all(cachebisect::test::hostile_report(), std::filesystem::path(words[1]) / "hostile");
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
