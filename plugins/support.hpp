// What the shipped plugins share on their side of carbon_plugin.h: exceptions kept inside, options, output
// text.
//
// Not part of the plugin interface and not installed. A plugin is a class with
//     explicit Class(carbon_run* run);       run is null when only --help is wanted
//     void declare(Options& options);
//     void start();                          after the options are read
//     void record(carbon_record* record);    if it reads records; or int, what `process` is to return
//     void finish();
// and a line CARBON_PLUGIN(Class, "about", uses).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "plugins/carbon_plugin.h"
#include "src/base/help_lines.hpp"
#include "src/base/numbers.hpp"
#include "src/statistics/split_mix.hpp"
#include "version.h"

namespace carbon_plugins {

/// A reason to end the run: what, where, what to do.
struct Failure {
  std::string reason;
};
[[noreturn]] inline void fail(std::string reason) {
  throw Failure{std::move(reason)};
}

/// Thrown when a function of the program has failed; the program remembers why.
struct HostFailed {};
inline int checked(int status) {
  if (status == CARBON_ERROR) throw HostFailed();
  return status;
}
template <class T>
T* checked(T* handle) {
  if (!handle) throw HostFailed();
  return handle;
}

/// Parts of a text between separators; one for an empty text.
inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

using carbon::parse_number;
using carbon::shell_word;

inline std::string upper_case(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

/// The options of a plugin, each declared once. The program lists, reads and refuses them as those of its
/// commands. All plugins call the same thing by the same name: -f,--fasta-ref a FASTA with the reference,
/// -r,--regions a region, -R,--regions-file a file of them, and --genes an annotation.
class Options {
 public:
  /// A row of the table, and where its value goes. The methods fill in columns that few options have, and
  /// return the row.
  struct Row {
    std::string name, value, help;  // without a value it is a flag
    std::function<void(const std::string&)> set;
    int kind = CARBON_VALUE_TEXT;
    std::string now = {};  // the value before the command line is read
    std::string least = {}, most = {};
    bool repeats = false;
    char short_name = '\0';

    Row& letter(char name) {
      short_name = name;
      return *this;
    }
    /// --help says which value holds without the option: the one that the variable has when it is declared.
    Row& shows_default() {
      help += " (default: " + now + ")";
      return *this;
    }
  };

  Row& text(const std::string& name, const std::string& type, const std::string& help, std::string& value) {
    return add(
        {name, type, help, [&value](const std::string& given) { value = given; }, CARBON_VALUE_TEXT, value});
  }
  /// May be given several times.
  Row& list(const std::string& name, const std::string& type, const std::string& help,
            std::vector<std::string>& values) {
    Row& row = add({name, type, help, [&values](const std::string& given) { values.push_back(given); }});
    row.repeats = true;
    return row;
  }
  template <class T>
  Row& number(const std::string& name, const std::string& type, const std::string& help, T& value, T least,
              T most = std::numeric_limits<T>::max()) {
    // The program has read it as a number between the bounds.
    Row& row = add({name, type, help, [&value](const std::string& given) { parse_number(given, value); },
                    std::is_integral_v<T> ? CARBON_VALUE_WHOLE : CARBON_VALUE_REAL, shown(value)});
    row.least = shown(least);
    row.most = shown(most);
    return row;
  }
  Row& flag(const std::string& name, const std::string& help, bool& value) {
    return add({name, "", help, [&value](const std::string&) { value = true; }});
  }
  /// One of the words, which becomes the value.
  Row& word(const std::string& name, const std::vector<std::string>& words, const std::string& help,
            std::string& value) {
    return add({name, with_bars(words), help, [&value](const std::string& given) { value = given; },
                CARBON_VALUE_WORD, value});
  }
  /// The value is the index of the word among `words`.
  Row& choice(const std::string& name, const std::vector<std::string>& words, const std::string& help,
              int& value) {
    const auto set = [&value, words](const std::string& given) {
      value = static_cast<int>(std::find(words.begin(), words.end(), given) - words.begin());
    };
    return add({name, with_bars(words), help, set, CARBON_VALUE_WORD,
                value < 0 ? "" : words[static_cast<size_t>(value)]});
  }

  /// A command line and what it does, for the end of --help.
  void example(const std::string& does, const std::string& line) { examples_.push_back({does, line}); }
  std::string examples() const { return carbon::examples_help(examples_); }

  /// The table for the program, which is good as long as this.
  std::vector<carbon_option> table() const {
    std::vector<carbon_option> table;
    const auto or_null = [](const std::string& text) { return text.empty() ? nullptr : text.c_str(); };
    for (const Row& row : rows_)
      table.push_back({row.name.c_str(), or_null(row.value), row.help.c_str(), or_null(row.least),
                       or_null(row.most), row.kind, row.short_name, row.repeats});
    table.push_back({});
    return table;
  }

  /// Takes the words that the program has made of the command line: --NAME=VALUE, or --NAME of a flag.
  void read(int argc, char** argv) const {
    for (int i = 1; i < argc; ++i) {
      const std::string word = argv[i];
      const size_t equals = std::min(word.find('='), word.size());
      for (const Row& row : rows_)
        if (word.substr(0, equals) == "--" + row.name)
          row.set(word.substr(std::min(equals + 1, word.size())));
    }
  }

 private:
  template <class T>
  static std::string shown(T value) {
    if constexpr (std::is_integral_v<T>)
      return std::to_string(value);
    else
      return carbon::shortest_text(value);
  }
  static std::string with_bars(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : "|") + word;
    return text;
  }
  Row& add(Row row) { return rows_.emplace_back(std::move(row)); }

  std::deque<Row> rows_;  // whose rows stay where they are
  std::vector<carbon::Example> examples_;
};

/// As the commands print totals; "." for what is not a number.
inline std::string to_text(double value, int digits = 10) {
  if (std::isnan(value)) return ".";
  return carbon::general_text(value, digits);
}

/// Says which command draws what was found. `arguments` are words for a shell.
inline void name_report(carbon_run* run, const std::string& arguments) {
  run->api->message(run, CARBON_INFO,
                    ("a picture of this: carbon report " + arguments + " -o report.html").c_str());
}

/// A file or standard output of the run; `path` null is -o.
class Output {
 public:
  Output(carbon_run* run, const char* path) : run_(run), output_(checked(run->api->output_open(run, path))) {}
  void write(std::string_view text) {
    checked(run_->api->output_write(run_, output_, text.data(), text.size()));
  }

 private:
  carbon_run* run_;
  carbon_output* output_;
};

/// The table of a plugin, which goes to -o, and the JSON of the same, if a file is named for it. Both are
/// opened before the work begins, because a file that cannot be written should not be noticed at its end.
class Results {
 public:
  void open(carbon_run* run, const std::string& json_path) {
    table_.emplace(run, nullptr);
    if (!json_path.empty()) json_.emplace(run, json_path.c_str());
  }
  /// `json` makes the text, which is asked for only if there is a file for it.
  template <class Json>
  void write(std::string_view table, const Json& json) {
    table_->write(table);
    if (json_) json_->write(json());
  }

 private:
  std::optional<Output> table_, json_;
};

/// The input of a plugin that takes one; fails if there are more.
inline const char* only_input(carbon_run* run) {
  if (run->api->input(run, 1)) fail("one input file is expected, not several");
  return run->api->input(run, 0);
}

/// The sequences of a FASTA file, plain or compressed.
class Sequences {
 public:
  Sequences(carbon_run* run, const char* path)
      : run_(run), sequences_(checked(run->api->sequences_open(run, path))) {}
  /// Goes to the next sequence; false at the end.
  bool next() { return checked(run_->api->sequences_next(run_, sequences_, &name_, &bases_, &length_)) == 1; }
  std::string name() const { return name_; }
  /// As they stand in the file; good until next().
  std::string_view bases() const { return {bases_, length_}; }

 private:
  carbon_run* run_;
  carbon_sequences* sequences_;
  const char *name_ = nullptr, *bases_ = nullptr;
  size_t length_ = 0;
};

/// A table with tabs and a line of names, plain or compressed.
class Table {
 public:
  Table(carbon_run* run, const char* path)
      : run_(run), path_(path), text_(checked(run->api->text_open(run, path))) {
    if (!line(names_)) fail(path_ + ": empty; a line of names is expected");
    if (names_.front().starts_with('#')) names_.front().erase(0, 1);
  }
  /// The column of the first of `names` that there is; npos without any.
  size_t column(std::initializer_list<std::string> names) const {
    for (const std::string& name : names)
      if (const auto at = std::find(names_.begin(), names_.end(), name); at != names_.end())
        return static_cast<size_t>(at - names_.begin());
    return npos;
  }
  size_t required(const std::string& name) const {
    if (const size_t at = column({name}); at != npos) return at;
    fail(where() + ": no column " + name + " among the names, which are separated by tabs");
  }
  /// The fields of the next row; false at the end.
  bool next(std::vector<std::string>& fields) {
    if (!line(fields)) return false;
    if (fields.size() != names_.size())
      fail(where() + ": " + std::to_string(fields.size()) + " columns, the first line has " +
           std::to_string(names_.size()));
    return true;
  }
  std::string where() const { return checked(run_->api->text_where(run_, text_)); }
  static constexpr size_t npos = static_cast<size_t>(-1);

 private:
  bool line(std::vector<std::string>& fields) {
    const char* bytes = nullptr;
    size_t length = 0;
    if (checked(run_->api->text_line(run_, text_, &bytes, &length)) == 0) return false;
    fields = split({bytes, length}, '\t');
    return true;
  }

  carbon_run* run_;
  std::string path_;
  carbon_text* text_;
  std::vector<std::string> names_;
};

/// A JSON document, written in order. Names and values follow each other; commas are put in between.
class Json {
 public:
  Json& open(char bracket) { return put(std::string(1, bracket)), fresh_ = true, *this; }
  Json& close(char bracket) { return text_ += bracket, fresh_ = false, *this; }
  Json& name(const std::string& text) { return put(quoted(text) + ": "), fresh_ = true, *this; }
  Json& value(const std::string& text) { return put(quoted(text)), *this; }
  Json& value(const char* text) { return value(std::string(text)); }
  Json& value(bool truth) { return put(truth ? "true" : "false"), *this; }
  /// The shortest digits that give the same number back; null for NaN.
  Json& value(double number) {
    if (std::isnan(number)) return put("null"), *this;
    return put(carbon::shortest_text(number)), *this;
  }
  Json& value(uint64_t number) { return put(std::to_string(number)), *this; }
  std::string text() const { return text_ + "\n"; }

 private:
  void put(const std::string& part) {
    if (!fresh_) text_ += ", ";
    text_ += part;
    fresh_ = false;
  }
  static std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\')
        out += std::string("\\") + c;
      else if (static_cast<unsigned char>(c) < 0x20)
        out += "\\u" + carbon::hex_text(static_cast<unsigned char>(c), 4);
      else
        out += c;
    }
    return out + "\"";
  }

  std::string text_;
  bool fresh_ = true;
};

/// The bases of a token of the model, which this loads.
inline size_t bases_per_token(carbon_run* run) {
  return std::stoul(checked(run->api->property(run, CARBON_BASES_PER_TOKEN)));
}

/// What the result of a model depends on, as members of an open object.
inline void add_model(Json& out, carbon_run* run) {
  constexpr std::pair<const char*, int> properties[] = {{"model", CARBON_MODEL_ID},
                                                        {"sha256", CARBON_MODEL_SHA256},
                                                        {"dtype", CARBON_MODEL_DTYPE},
                                                        {"device", CARBON_DEVICE_KIND}};
  for (const auto& [name, which] : properties) out.name(name).value(checked(run->api->property(run, which)));
}

using Random = carbon::SplitMix64;

/// The numbers of one row of a data set: neither other rows nor other seeds have a part in them.
inline Random row_stream(uint64_t seed, uint64_t row) {
  return Random(Random(Random(seed).next() + row).next());
}

/// The C functions of a plugin class.
template <class Plugin>
struct EntryPoints {
  template <class F>
  static int inside(carbon_run* run, F f) {
    try {
      return f();
    } catch (const Failure& failure) {
      return run->api->fail(run, failure.reason.c_str());
    } catch (const HostFailed&) {
      return CARBON_ERROR;
    } catch (const std::bad_alloc&) {
      return run->api->fail(run, "out of memory");
    }
  }

  static Options declared() {
    Plugin plugin(nullptr);
    Options options;
    plugin.declare(options);
    return options;
  }
  static const char* usage() {
    static const std::string text = declared().examples();
    return text.c_str();
  }
  static int init(carbon_run* run, int argc, char** argv, void** state) {
    return inside(run, [&] {
      auto plugin = std::make_unique<Plugin>(run);
      Options options;
      plugin->declare(options);
      options.read(argc, argv);
      plugin->start();
      *state = plugin.release();
      return int{CARBON_DONE};
    });
  }
  static int process(carbon_run* run, void* state, carbon_record* record) {
    return inside(run, [&] {
      Plugin& plugin = *static_cast<Plugin*>(state);
      if constexpr (std::is_same_v<decltype(plugin.record(record)), int>)
        return plugin.record(record);
      else
        return plugin.record(record), int{CARBON_KEEP};
    });
  }
  static int finish(carbon_run* run, void* state) {
    return inside(run, [&] {
      static_cast<Plugin*>(state)->finish();
      return int{CARBON_DONE};
    });
  }
  static void destroy(void* state) { delete static_cast<Plugin*>(state); }

  static const carbon_plugin* describe(const char* about, uint32_t uses) {
    // Its variables are gone, and only its texts are read.
    static const Options options = declared();
    static const std::vector<carbon_option> table = options.table();
    static carbon_declared_plugin described{};
    described.options = table.data();
    carbon_plugin& plugin = described.plugin;
    plugin.abi = CARBON_PLUGIN_ABI;
    plugin.size = sizeof(carbon_plugin);
    plugin.version = CARBON_VERSION;
    plugin.about = about;
    plugin.uses = uses | CARBON_DECLARES_OPTIONS;
    plugin.usage = usage;
    plugin.init = init;
    if constexpr (requires(Plugin & p, carbon_record * r) { p.record(r); }) plugin.process = process;
    plugin.finish = finish;
    plugin.destroy = destroy;
    return &plugin;
  }
};

}  // namespace carbon_plugins

#define CARBON_PLUGIN(Class, about, uses)                                   \
  extern "C" CARBON_EXPORT const carbon_plugin* carbon_plugin_entry(void) { \
    return carbon_plugins::EntryPoints<Class>::describe(about, uses);       \
  }
