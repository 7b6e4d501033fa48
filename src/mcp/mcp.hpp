// src/mcp/: carbon mcp, the verbs as tools of the Model Context Protocol: messages of JSON-RPC 2.0 come in,
// one on a line, and answers go out.
//
// The tools are a verb each, the models, and the bases of a region; JSON values go in and come out.
#pragma once

#include <atomic>
#include <functional>
#include <iosfwd>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/api/call.hpp"
#include "src/api/open_model.hpp"
#include "src/base/log.hpp"
#include "src/verbs/fields.hpp"

namespace carbon {

/// What a call is told and tells while it runs.
struct ToolRun {
  std::atomic<bool> cancelled{false};  // any thread may set it; the call then throws
  std::function<void(size_t done, size_t planned)> progress;
};

class McpTools {
 public:
  /// `fasta`: "" for none. `root`: the folder below which files may be read and written, "" for none. Throws
  /// Error.
  McpTools(const ModelOptions& options, const std::string& fasta, const std::string& root, Log& log);

  /// As tools/list has them.
  nlohmann::ordered_json list() const;
  bool has(const std::string& name) const;
  /// The result of tools/call. What is wrong with arguments or files is a result with isError. Any thread.
  nlohmann::ordered_json call(const std::string& name, const nlohmann::json& arguments, ToolRun& run);

 private:
  nlohmann::ordered_json schema_of(const VerbEntry& verb) const;
  nlohmann::ordered_json of_verb(const VerbEntry& verb, const Fields& arguments, ToolRun& run);
  nlohmann::ordered_json of_region(const Fields& arguments);
  std::vector<std::string> read_inputs(const std::string& field, const Fields& arguments) const;
  std::string readable(const std::string& path) const;
  std::string new_file(const std::string& tool);

  Log& log_;
  std::shared_ptr<api::OpenModel> model_;
  std::unique_ptr<SharedReference> reference_;  // null: there is none
  std::string root_;                            // without symbolic links
  std::atomic<size_t> files_{0};
};

/// Answers the messages of a client until `in` ends or `out` cannot be written. Throws Error for a message of
/// more than 256 MiB.
void talk_mcp(McpTools& tools, std::istream& in, std::ostream& out);

}  // namespace carbon
