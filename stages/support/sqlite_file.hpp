// SQLite's connections and statements, by ownership. Not thread safe, one connection per thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

struct sqlite3;
struct sqlite3_stmt;

namespace cachebisect::stages {

class SqliteError : public std::runtime_error {
 public:
  SqliteError(int code, const std::string& text) : std::runtime_error(text), code_(code) {}

  /// Another process writes.
  [[nodiscard]] bool is_busy() const noexcept;
  /// The limit of the file, or the disk.
  [[nodiscard]] bool is_full() const noexcept;
  /// What is in the file cannot be right.
  [[nodiscard]] bool is_damaged() const noexcept;

 private:
  int code_;
};

class SqliteStatement {
 public:
  SqliteStatement() = default;
  explicit SqliteStatement(sqlite3_stmt* statement) : statement_(statement) {}

  /// Values are numbered from 1. Bytes must live until reset().
  SqliteStatement& bind(int place, std::int64_t value);
  SqliteStatement& bind(int place, std::span<const std::byte> bytes);
  SqliteStatement& bind(int place, const std::string& text);
  /// The next row; false if there is none. Throws SqliteError.
  bool step();
  /// Columns are numbered from 0; valid until the next step() or reset().
  [[nodiscard]] std::int64_t number(int column) const;
  [[nodiscard]] std::span<const std::byte> bytes(int column) const;
  [[nodiscard]] std::string text(int column) const;
  /// Ends the query, so that it holds no lock, and lets go of the values.
  void reset() noexcept;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class SqliteConnection {
 public:
  /// Opens the file, or makes it. Throws SqliteError.
  explicit SqliteConnection(const std::string& file);

  [[nodiscard]] SqliteStatement prepare(const std::string& sql);
  /// Runs statements that give no rows of interest.
  void run(const std::string& sql);
  /// The first column of the first row.
  [[nodiscard]] std::int64_t number(const std::string& sql);
  /// Leaves a file without tables, whatever is in it; other connections see it so.
  void reset();

 private:
  struct Close {
    void operator()(sqlite3* connection) const noexcept;
  };
  std::unique_ptr<sqlite3, Close> connection_;
};

/// Rolled back unless it is committed.
class SqliteTransaction {
 public:
  explicit SqliteTransaction(SqliteConnection& connection);
  ~SqliteTransaction();
  SqliteTransaction(const SqliteTransaction&) = delete;
  SqliteTransaction& operator=(const SqliteTransaction&) = delete;

  void commit();

 private:
  SqliteConnection* connection_;  ///< null once it is committed
};

}  // namespace cachebisect::stages
