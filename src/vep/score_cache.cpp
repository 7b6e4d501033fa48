#include "src/vep/score_cache.hpp"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "src/base/error.hpp"
#include "src/base/files.hpp"
#include "src/base/json.hpp"
#include "src/files/temporary_files.hpp"

namespace carbon {
namespace {

constexpr uint32_t kApplicationId = 0x43617243;  // "CarC", in the header of the file
constexpr uint32_t kVersion = 1;                 // of the table and of what goes into a key
constexpr size_t kTransaction = 1024;            // entries
constexpr int kLongestValue = 1 << 16;           // bytes; a key has 32, and the schema has one line
constexpr int kBusyMilliseconds = 60000;         // how long to wait for another process that locks the file

[[noreturn]] void fail(const std::string& what, const Advice& advice = {}) {
  throw Error("score_cache", what, advice);
}

// `why` may be text of SQLite, which quotes what is in the file.
[[noreturn]] void fail_damaged(const std::string& path, const std::string& why) {
  fail(path + ": the score cache is damaged (" + printable(why) + "); remove it",
       {"or name another file with {--cache}"});
}

// The path in a form that SQLite takes as a file name, even if it is ":memory:" or looks like a URI.
std::string literal(const std::string& path) {
  return path.starts_with('/') ? path : "./" + path;
}

uint32_t big_endian(const char* bytes) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// Checks the first bytes of the file before SQLite opens it, because SQLite would change a database of
// another program by replaying its journal.
void check_header(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0)
    fail(path + ": cannot open the score cache: " + std::strerror(errno));
  const Advice advice{"name another file with {--cache}"};
  if (!S_ISREG(status.st_mode))
    fail(path + ": not a regular file, so not a score cache; it was not changed", advice);
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(path + ": cannot open the score cache: " + std::strerror(errno));
  char header[100] = {};  // https://www.sqlite.org/fileformat.html, 1.3
  in.read(header, sizeof header);
  if (in.gcount() < static_cast<std::streamsize>(sizeof header) ||
      std::memcmp(header, "SQLite format 3", 16) != 0 || big_endian(header + 68) != kApplicationId)
    fail(path + ": not a score cache of carbon; it was not changed", advice);
  if (const uint32_t version = big_endian(header + 60); version != kVersion)
    fail(path + ": a score cache of layout " + std::to_string(version) + ", but this carbon uses layout " +
             std::to_string(kVersion) + "; it was not changed",
         advice);
}

// What make_file() creates, as sqlite_schema then holds it.
constexpr const char* kTable =
    "CREATE TABLE score(key BLOB PRIMARY KEY NOT NULL, llr INTEGER NOT NULL, guard INTEGER NOT NULL)"
    " WITHOUT ROWID";

// Protects the values in the file; SQLite itself has no checksums.
int64_t checksum(const ScoreKey& key, int64_t bits) {
  const uint32_t of_key = crc32_of({reinterpret_cast<const char*>(key.data()), key.size()});
  return crc32_of({reinterpret_cast<const char*>(&bits), sizeof bits}, of_key);
}

}  // namespace

class ScoreCache::Connection {
 public:
  /// `name` is the file's name in messages.
  Connection(const std::string& path, const std::string& name) : name_(name) {
    sqlite3* handle = nullptr;
    const int code =
        sqlite3_open_v2(literal(path).c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
    db_.reset(handle);
    check(code, "open");
    if (sqlite3_db_readonly(handle, "main") == 1)
      fail(name + ": the score cache is read-only; make it writable",
           {"or name another file with {--cache}"});
    sqlite3_busy_timeout(handle, kBusyMilliseconds);
    // A file from somebody else may hold SQL, such as triggers, and values of any size.
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kLongestValue);
  }

  void run(const char* sql) { check(sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr), "write"); }

  void prepare(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v2(db_.get(), sql, -1, &statement, nullptr);
    statement_.reset(statement);
    // The header has the right layout, so if there is no such table, the file is damaged.
    if (code == SQLITE_ERROR) fail_damaged(name_, sqlite3_errmsg(db_.get()));
    check(code, "read");
  }

  void bind(int column, const ScoreKey& key) {
    sqlite3_bind_blob(statement_.get(), column, key.data(), static_cast<int>(key.size()), SQLITE_STATIC);
  }
  void bind(int column, int64_t value) { sqlite3_bind_int64(statement_.get(), column, value); }

  /// Runs the prepared statement and returns true if it has a row. Call reset() before it runs again.
  bool step(const char* doing) {
    const int code = sqlite3_step(statement_.get());
    if (code != SQLITE_ROW && code != SQLITE_DONE) check(code, doing);
    return code == SQLITE_ROW;
  }
  void reset() { sqlite3_reset(statement_.get()); }

  int64_t integer(int column) {
    if (sqlite3_column_type(statement_.get(), column) != SQLITE_INTEGER) fail_damaged(name_, "not a number");
    return sqlite3_column_int64(statement_.get(), column);
  }
  std::string text(int column) {
    const unsigned char* bytes = sqlite3_column_text(statement_.get(), column);
    return bytes ? reinterpret_cast<const char*>(bytes) : "";
  }

  const std::string& name() const { return name_; }

 private:
  struct Release {
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };

  void check(int code, const char* doing) const {
    if (code == SQLITE_OK) return;
    const int kind = code & 0xff;
    const std::string why = db_ ? sqlite3_errmsg(db_.get()) : sqlite3_errstr(code);
    if (kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB) fail_damaged(name_, why);
    std::string what = name_ + ": cannot " + doing + " the score cache: " + printable(why);
    Advice advice;
    if (kind == SQLITE_FULL || kind == SQLITE_IOERR || kind == SQLITE_CANTOPEN) {
      if (const int number = db_ ? sqlite3_system_errno(db_.get()) : 0; number != 0)
        what += std::string(" (") + std::strerror(number) + ")";
      what += "; see that its directory can be written and its disk has room";
    } else if (kind == SQLITE_BUSY || kind == SQLITE_LOCKED) {
      what += "; another process uses it";
    } else if (kind == SQLITE_READONLY) {
      what += "; make it writable";
      advice = {"or name another file with {--cache}"};
    }
    fail(what, advice);
  }

  std::string name_;
  std::unique_ptr<sqlite3, Release> db_;
  std::unique_ptr<sqlite3_stmt, Release> statement_;  // after db_: it goes first
};

namespace {

[[noreturn]] void fail_to_make(const std::string& path, int error) {
  fail(path + ": cannot make the score cache: " + std::strerror(error));
}

}  // namespace

// The file is made under another name and linked when it is complete. So if many processes start at once,
// each finds a complete file, and all find the same one.
void ScoreCache::make_file(const std::string& path) {
  int error = 0;
  const auto partial = TemporaryFile::create(path, std::nullopt, error);
  if (!partial) fail_to_make(path, error);
  Connection(partial->path(), path)
      .run(("PRAGMA application_id=" + std::to_string(kApplicationId) +
            ";PRAGMA user_version=" + std::to_string(kVersion) + ";" + kTable + ";PRAGMA journal_mode=WAL")
               .c_str());
  // SQLite would replay the log of a removed cache into the new one. If another process makes the cache just
  // now, its file appears before its log.
  if (path_exists(path + "-wal") && !path_exists(path))
    fail(path + "-wal is left over from a score cache that is gone; remove it");
  if (::link(partial->path().c_str(), path.c_str()) != 0 && errno != EEXIST) fail_to_make(path, errno);
}

ScoreCache::ScoreCache(const std::string& path, std::string identity)
    : identity_(std::move(identity)), claim_(path) {
  if (!path_exists(path)) make_file(path);
  check_header(path);
  reader_ = std::make_unique<Connection>(path, path);
  // Before anything else is read: nothing but the table that make_file() creates may be in the file.
  reader_->prepare("SELECT count(*), max(sql) FROM sqlite_master");
  if (!reader_->step("read") || reader_->integer(0) != 1 || reader_->text(1) != kTable)
    fail(path + ": the score cache has another table than carbon makes; remove it",
         {"or name another file with {--cache}"});
  reader_->prepare("PRAGMA quick_check(1)");
  if (!reader_->step("read") || reader_->text(0) != "ok") {
    const std::string lines = reader_->text(0);
    fail_damaged(path, lines.substr(lines.rfind('\n') + 1));
  }
  reader_->prepare("SELECT llr, guard FROM score WHERE key = ?");
  writer_ = std::make_unique<Connection>(path, path);
  writer_->run("PRAGMA synchronous=NORMAL");  // a power cut may lose the last entries, not the file
  writer_->prepare("INSERT OR IGNORE INTO score(key, llr, guard) VALUES(?, ?, ?)");
}

ScoreCache::~ScoreCache() = default;

ScoreKey ScoreCache::key(std::string_view recipe, Strand strand,
                         std::initializer_list<std::string_view> sequences) const {
  std::string text = "carbon score " + std::to_string(kVersion) + "\n" + identity_ + "\n";
  text.append(recipe).append(strand == Strand::forward ? "\n+\n" : "\n-\n");
  for (const std::string_view sequence : sequences)
    text.append(std::to_string(sequence.size())).append("\n").append(sequence);
  return sha256_bytes(text);
}

CachedScore ScoreCache::look_up(std::string_view recipe, Strand strand,
                                std::initializer_list<std::string_view> sequences) {
  CachedScore out{key(recipe, strand, sequences), std::nullopt};
  ++looked_up_;
  reader_->bind(1, out.key);
  if (reader_->step("read")) {
    const int64_t bits = reader_->integer(0);
    if (reader_->integer(1) != checksum(out.key, bits))
      fail_damaged(reader_->name(), "a value does not match its checksum");
    out.llr = std::bit_cast<double>(bits);
    ++found_;
  }
  reader_->reset();
  return out;
}

void ScoreCache::insert(const ScoreKey& key, double llr) {
  pending_.emplace_back(key, llr);
  if (pending_.size() == kTransaction) flush();
}

void ScoreCache::flush() {
  if (pending_.empty()) return;
  writer_->run("BEGIN IMMEDIATE");
  for (const auto& [key, llr] : pending_) {
    const auto bits = std::bit_cast<int64_t>(llr);
    writer_->bind(1, key);
    writer_->bind(2, bits);
    writer_->bind(3, checksum(key, bits));
    writer_->step("write");
    writer_->reset();
  }
  writer_->run("COMMIT");
  pending_.clear();
}

}  // namespace carbon
