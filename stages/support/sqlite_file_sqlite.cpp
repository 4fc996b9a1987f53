#include "stages/support/sqlite_file.hpp"
#include <sqlite3.h>

namespace cachebisect::stages {
namespace {

void check(int code, sqlite3* connection) {
  if (code == SQLITE_OK) return;
  throw SqliteError(code,
                    connection != nullptr ? sqlite3_errmsg(connection) : sqlite3_errstr(code));
}

}  // namespace

bool SqliteError::is_busy() const noexcept {
  const int code = code_ & 0xff;
  return code == SQLITE_BUSY || code == SQLITE_LOCKED;
}

bool SqliteError::is_full() const noexcept { return (code_ & 0xff) == SQLITE_FULL; }

bool SqliteError::is_damaged() const noexcept {
  const int code = code_ & 0xff;
  return code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
}

void SqliteStatement::Finalize::operator()(sqlite3_stmt* statement) const noexcept {
  sqlite3_finalize(statement);
}

SqliteStatement& SqliteStatement::bind(int place, std::int64_t value) {
  check(sqlite3_bind_int64(statement_.get(), place, value), sqlite3_db_handle(statement_.get()));
  return *this;
}

SqliteStatement& SqliteStatement::bind(int place, std::span<const std::byte> bytes) {
  check(sqlite3_bind_blob64(statement_.get(), place, bytes.data(), bytes.size(), SQLITE_STATIC),
        sqlite3_db_handle(statement_.get()));
  return *this;
}

SqliteStatement& SqliteStatement::bind(int place, const std::string& text) {
  check(sqlite3_bind_text(statement_.get(), place, text.c_str(), static_cast<int>(text.size()),
                          SQLITE_STATIC),
        sqlite3_db_handle(statement_.get()));
  return *this;
}

bool SqliteStatement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  const SqliteError error(code, sqlite3_errmsg(sqlite3_db_handle(statement_.get())));
  reset();
  throw SqliteError(error);
}

std::int64_t SqliteStatement::number(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::span<const std::byte> SqliteStatement::bytes(int column) const {
  const auto* const data =
      static_cast<const std::byte*>(sqlite3_column_blob(statement_.get(), column));
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return {data, static_cast<std::size_t>(size)};
}

std::string SqliteStatement::text(int column) const {
  const std::span<const std::byte> held = bytes(column);
  return {reinterpret_cast<const char*>(held.data()), held.size()};
}

void SqliteStatement::reset() noexcept {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

void SqliteConnection::Close::operator()(sqlite3* connection) const noexcept {
  sqlite3_close_v2(connection);
}

SqliteConnection::SqliteConnection(const std::string& file) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(
      file.c_str(), &opened,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
      nullptr);
  connection_.reset(opened);
  check(code, opened);
}

SqliteStatement SqliteConnection::prepare(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  check(sqlite3_prepare_v3(connection_.get(), sql.c_str(), static_cast<int>(sql.size()),
                           SQLITE_PREPARE_PERSISTENT, &statement, nullptr),
        connection_.get());
  return SqliteStatement(statement);
}

void SqliteConnection::run(const std::string& sql) {
  check(sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, nullptr), connection_.get());
}

std::int64_t SqliteConnection::number(const std::string& sql) {
  SqliteStatement statement = prepare(sql);
  return statement.step() ? statement.number(0) : 0;
}

void SqliteConnection::reset() {
  // As https://www.sqlite.org/c3ref/c_dbconfig_defensive.html says: what the schema read of a
  // damaged file gives does not matter.
  sqlite3* const connection = connection_.get();
  sqlite3_exec(connection, "SELECT count(*) FROM sqlite_schema", nullptr, nullptr, nullptr);
  check(sqlite3_db_config(connection, SQLITE_DBCONFIG_RESET_DATABASE, 1, nullptr), connection);
  const int emptied = sqlite3_exec(connection, "VACUUM", nullptr, nullptr, nullptr);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_RESET_DATABASE, 0, nullptr);
  check(emptied, connection);
}

SqliteTransaction::SqliteTransaction(SqliteConnection& connection) : connection_(&connection) {
  connection.run("BEGIN IMMEDIATE");
}

SqliteTransaction::~SqliteTransaction() {
  if (connection_ == nullptr) return;
  try {
    connection_->run("ROLLBACK");
  } catch (const SqliteError&) {  // SQLite has rolled it back by itself.
    return;
  }
}

void SqliteTransaction::commit() {
  connection_->run("COMMIT");
  connection_ = nullptr;
}

}  // namespace cachebisect::stages
