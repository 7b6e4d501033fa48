// What an output says of the run that made it: the program, the command line and the model. In tables these
// are header lines in the form of bcftools; beside or in files that have no such lines, JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/base/error.hpp"

namespace carbon {

/// The command line, and whether an output is to be without it (--no-version).
struct CommandRecord {
  std::string text;
  bool no_version = false;
};

/// The lines `##carbon_COMMANDVersion` and `##carbon_COMMANDCommand`; the second has the local time.
std::vector<std::string> version_lines(const std::string& command, const std::string& command_line);

/// The lines that begin an output: version_lines(), unless the record leaves them out, then those of the
/// models, which model_line() (src/engine/loaded_model.hpp) makes. To be asked for once a run.
std::vector<std::string> provenance_lines(const std::string& command, const CommandRecord& record,
                                          const std::vector<std::string>& models);

/// Throws Error of `function` for a name that cannot begin a row of a table below such lines: with # in
/// front, the row would be a comment. `advice` says what else to choose, with `value` for its {0}. Called for
/// each record, so that nothing is made of them before.
void check_row_name(std::string_view function, std::string_view name, std::string_view advice = {},
                    std::string_view value = {});

/// Such lines as a JSON object with a key for each, such as carbon_embedVersion. The value is the text after
/// the equals sign; that of a model is an object of its fields. Bytes that are not UTF-8 are replaced. Ends
/// with a newline.
std::string provenance_json(const std::vector<std::string>& lines);

/// The same on one line, with nothing but strings as values: __metadata__ of a safetensors file.
std::string provenance_strings(const std::vector<std::string>& lines);

/// The header lines that provenance_json() or provenance_strings() has made JSON of; none for other JSON.
/// Throws Error, which names `path`, for a text that is not JSON.
std::vector<std::string> provenance_of_json(std::string_view text, const std::string& path);

/// Those of a file, as check_provenance_file() accepts it; none if there is no such file or it is another
/// one.
std::vector<std::string> provenance_of_file(const std::string& path);

/// Throws Error if `path`, where the JSON of an output of `command` is to be written, is there already and
/// `command` has not written it: it would be lost.
void check_provenance_file(const std::string& command, const std::string& path);

}  // namespace carbon
