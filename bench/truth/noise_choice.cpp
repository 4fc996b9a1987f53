#include "bench/truth/noise_choice.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/statistics.hpp"

namespace cachebisect::truth {
namespace {

constexpr double kQuietQuantile = 0.05;

struct Piece {
  double start;
  double seconds;
};

std::vector<Piece> read_pieces(std::istream& recording) {
  std::vector<Piece> pieces;
  int thread = 0;
  for (Piece piece{}; recording >> thread >> piece.start >> piece.seconds;) {
    if (piece.seconds > 0 && piece.start >= 0) pieces.push_back(piece);
  }
  return pieces;
}

/// Work done and time taken in one cell, all threads together.
struct Cell {
  double work = 0;
  double seconds = 0;
};

std::vector<Cell> spread(const std::vector<Piece>& pieces) {
  std::vector<Cell> cells;
  for (const Piece& piece : pieces) {
    const double end = piece.start + piece.seconds;
    for (auto i = static_cast<std::size_t>(piece.start / kTraceCellSeconds);; ++i) {
      const double from = static_cast<double>(i) * kTraceCellSeconds;
      if (from >= end) break;
      if (i >= cells.size()) cells.resize(i + 1);
      const double inside = std::min(end, from + kTraceCellSeconds) - std::max(piece.start, from);
      cells[i].seconds += std::max(0.0, inside);
      cells[i].work += std::max(0.0, inside) / piece.seconds;
    }
  }
  return cells;
}

std::vector<double> read_factors(std::istream& in) {
  std::vector<double> factors;
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line.substr(0, line.find('#')));
    double factor = 0;
    if (fields >> factor) factors.push_back(factor);
  }
  return factors;
}

bool is_raw(const std::string& line) {
  std::istringstream fields(line);
  double number = 0;
  int count = 0;
  while (fields >> number) ++count;
  return count == 3;
}

}  // namespace

std::vector<double> factors_of(std::istream& recording) {
  const std::vector<Piece> pieces = read_pieces(recording);
  if (pieces.empty()) throw Error(ErrorKind::usage, "the recording holds no piece of work");
  std::vector<double> seconds;
  for (const Piece& piece : pieces) seconds.push_back(piece.seconds);
  const double quiet = quantile(seconds, kQuietQuantile);
  std::vector<double> factors;
  for (const Cell& cell : spread(pieces)) {
    // A cell without work takes the factor of the cell before it.
    const double before = factors.empty() ? 1 : factors.back();
    factors.push_back(cell.work > 0 ? cell.seconds / (cell.work * quiet) : before);
  }
  return factors;
}

std::vector<double> load_trace(const std::string& file) {
  std::ifstream in(file);
  std::string first;
  std::getline(in, first);
  in.seekg(0);
  std::vector<double> factors = is_raw(first) ? factors_of(in) : read_factors(in);
  const bool sound = std::all_of(factors.begin(), factors.end(), [](double f) { return f > 0; });
  if (factors.empty() || !sound) {
    throw Error(ErrorKind::usage, file +
                                      ": not a trace; expected one factor above 0 per line, or " +
                                      "a recording with three numbers per line");
  }
  return factors;
}

SimulatedNoise noise_by_name(const std::string& name, double white_cv, std::vector<double> trace) {
  SimulatedNoise noise;
  if (name == "none") return noise;
  noise.white_cv = white_cv;
  if (name == "white") return noise;
  if (name == "drift") {
    noise.drift = 0.5;
    noise.drift_period_seconds = 7;
  } else if (name == "step") {
    noise.step_seconds = 2;
    noise.step_factor = 1.33;
  } else if (name == "burst" || name == "burst-one-arm") {
    noise.burst_probability = 0.05;
    noise.burst_seconds = 0.05;
    if (name == "burst-one-arm") noise.burst_stage = 1;
  } else if (name == "trace") {
    if (trace.empty()) throw Error(ErrorKind::usage, "--noise trace needs --trace FILE");
    noise.trace = std::move(trace);
    noise.trace_seconds = kTraceCellSeconds;
  } else {
    throw Error(ErrorKind::usage,
                "--noise " + name + ": none, white, drift, step, burst, burst-one-arm or trace");
  }
  return noise;
}

}  // namespace cachebisect::truth
