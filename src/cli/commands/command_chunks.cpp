#include <cmath>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/commands.hpp"
#include "commands/quantities.hpp"
#include "output/output_file.hpp"
#include "shell/terminal.hpp"
#include <CLI/CLI.hpp>
#include <unistd.h>

#include "cachebisect/base/error.hpp"
#include "cachebisect/chunks/chunk_writers.hpp"
#include "cachebisect/format/picture/draw_png.hpp"

namespace cachebisect::cli {
namespace {

struct ChunksArguments {
  std::string sample = "64x64";
  std::vector<std::string> chunks;
  std::string array;
  std::string dtype = "uint8";
  double compression = 1;
  std::optional<double> latency_ms;
  std::optional<std::string> bandwidth;
  std::uint64_t parallel = 1;
  std::string csv;
  std::string png;
  std::string color = "auto";
};

std::optional<RequestCosts> request_costs(const ChunksArguments& a) {
  if (!a.latency_ms && !a.bandwidth) return std::nullopt;
  if (!a.latency_ms || !a.bandwidth) {
    throw Error(ErrorKind::usage,
                "--latency and --bandwidth belong together: both make the time of a request");
  }
  if (!(*a.latency_ms >= 0 && std::isfinite(*a.latency_ms))) {
    throw Error(ErrorKind::usage, "--latency: milliseconds, 0 or more");
  }
  if (a.bandwidth->ends_with('%')) {
    throw Error(ErrorKind::usage, "--bandwidth: bytes per second, such as 100MB");
  }
  if (a.parallel == 0) throw Error(ErrorKind::usage, "--parallel: 1 or more requests");
  return RequestCosts{*a.latency_ms / 1e3, parse_bytes("--bandwidth", *a.bandwidth, 0), a.parallel};
}

ChunkTable table_of(const ChunksArguments& a) {
  if (!(a.compression > 0 && std::isfinite(a.compression))) {
    throw Error(ErrorKind::usage, "--compression: a ratio greater than 0, such as 2.5");
  }
  ChunkQuestion question{.sample = parse_chunk_shape("--sample", a.sample),
                         .element_bytes = bytes_of_element("--dtype", a.dtype),
                         .compression = a.compression,
                         .requests = request_costs(a)};
  if (!a.array.empty()) question.array = parse_chunk_shape("--array", a.array);
  for (const std::string& chunk : a.chunks) {
    question.chunks.push_back(parse_chunk_shape("--chunks", chunk));
  }
  if (question.chunks.empty()) question.chunks = usual_chunks(question.sample);
  return make_chunk_table(question);
}

/// Throws Error(usage) if both would be one file.
void write_files(const ChunksArguments& a, const ChunkTable& table) {
  std::optional<OutputFile> csv;
  std::optional<OutputFile> png;
  if (!a.csv.empty() && a.csv != "-") csv.emplace(a.csv);
  if (!a.png.empty()) png.emplace(a.png);
  if (csv && png && csv->same_file(*png)) {
    throw Error(ErrorKind::usage, "--csv and --png would be written to the same file");
  }
  if (csv) csv->commit(chunk_csv(table));
  if (png) png->commit(draw_png(chunk_picture(table)));
}

int run(const ChunksArguments& a) {
  const TextOptions text = text_options(a.color, STDOUT_FILENO);
  const ChunkTable table = table_of(a);
  if (a.png == "-") throw Error(ErrorKind::usage, "--png: the name of a file");
  if (a.csv == "-") {
    std::cout << chunk_csv(table) << std::flush;
  } else {
    std::cout << chunk_text(table, text) << std::flush;
  }
  write_files(a, table);
  if (!std::cout) throw Error(ErrorKind::output, "standard output could not be written");
  return 0;
}

}  // namespace

Command add_chunks(CLI::App& app) {
  auto arguments = std::make_shared<ChunksArguments>();
  ChunksArguments& a = *arguments;
  app.add_option("--sample", a.sample, "shape of one sample (64x64)")->type_name("SHAPE");
  app.add_option("--chunks", a.chunks,
                 "chunk shapes to compare, e.g. 32x32,64x64 (an eighth to 16 times the sample)")
      ->delimiter(',')
      ->type_name("SHAPES");
  app.add_option("--array", a.array, "shape of the array that samples are cut from (without end)")
      ->type_name("SHAPE");
  app.add_option("--dtype", a.dtype, "type of an element, as NumPy calls it (uint8)")
      ->type_name("TYPE");
  app.add_option("--compression", a.compression, "bytes of a chunk over its bytes in storage (1)")
      ->type_name("RATIO");
  app.add_option("--latency", a.latency_ms, "milliseconds until the first byte of a request")
      ->type_name("MS");
  app.add_option("--bandwidth", a.bandwidth, "bytes per second of the storage, e.g. 100MB")
      ->type_name("BYTES");
  app.add_option("--parallel", a.parallel, "requests in flight (1)")->type_name("N");
  app.add_option("--csv", a.csv, "write the table as CSV; - is standard output")->type_name("FILE");
  app.add_option("--png", a.png, "draw the table: bytes and chunks, or times if they are known")
      ->type_name("FILE");
  app.add_option("--color", a.color, "colour: auto is on a terminal")
      ->type_name("auto|always|never");
  return [arguments] { return run(*arguments); };
}

}  // namespace cachebisect::cli
