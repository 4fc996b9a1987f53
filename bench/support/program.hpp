// What the programs of the bench have in common: options, the tables of finished runs, the way out.
#pragma once

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cachebisect/base/error.hpp"

namespace cachebisect::bench {

/// Which planted chains are drawn.
struct ChainRange {
  int chains = 1;
  std::uint64_t seed = 1;  ///< of the first
};

inline void add_chain_range(CLI::App& app, ChainRange& range) {
  app.add_option("--chains", range.chains, "How many")->check(CLI::Range(1, 1000000));
  app.add_option("--seed", range.seed, "Of the first chain; the others follow");
}

/// What a program that judges a corpus prints.
struct CorpusOutput {
  std::string table;                   ///< form of the tables; empty: chains are run
  std::vector<std::string> tabulated;  ///< files that --resume wrote
  bool only_bad = false;
  bool print_pipelines = false;
};

inline void add_corpus_options(CLI::App& app, CorpusOutput& output, double& budget_seconds,
                               std::string& resume) {
  app.add_option("--budget", budget_seconds, "Seconds of measuring for each chain (60)")
      ->check(CLI::PositiveNumber);
  app.add_option("--resume", resume,
                 "Keep what was found of finished chains in this file, and skip those in it");
  app.add_option("--table", output.table, "Only print the tables of finished runs, as markdown");
  app.add_option("files", output.tabulated, "Files that --resume wrote, for --table");
  app.add_flag("--only-bad", output.only_bad,
               "Print rows only of chains that were not judged right");
  app.add_flag("--print-pipelines", output.print_pipelines, "Only print the pipeline files");
}

/// Prints markdown() of what `load` returns for each file. Throws Error(usage) for another form.
template <class Load>
void print_tables(const CorpusOutput& output, const Load& load) {
  if (output.table != "markdown") {
    throw Error(ErrorKind::usage, "--table " + output.table + ": expected markdown");
  }
  std::vector<decltype(load(output.table))> runs;
  for (const std::string& file : output.tabulated) runs.push_back(load(file));
  std::cout << markdown(runs);
}

/// Parses the arguments and returns run(), an exit code; an Error is printed after `name`.
template <class Run>
int run_program(const std::string& name, CLI::App& app, int argc, char** argv, const Run& run) {
  CLI11_PARSE(app, argc, argv);
  try {
    return run();
  } catch (const Error& error) {
    std::cerr << name << ": " << error.what() << '\n';
    return exit_code(error.kind());
  }
}

}  // namespace cachebisect::bench
