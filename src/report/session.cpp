// A session of IGV beside the page: an XML file that names the files of the report as tracks, by paths
// relative to itself, so that a folder with all of them can be moved.
//
// What IGV reads of it: igvteam/igv, IGVSessionReader.java, and igvteam/igv.js, igvXmlSession.js. A session
// of resources alone is complete; IGV chooses how a track is drawn by the end of its name.
#include "src/report/run.hpp"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <system_error>
#include <vector>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/files/file_name.hpp"
#include "src/files/output.hpp"
#include "src/report/drawing/svg.hpp"
#include "src/report/sources/assembly.hpp"
#include "src/report/sources/input.hpp"
#include "src/report/sources/variants.hpp"

namespace carbon {
namespace {

constexpr const char* kFunction = "report_session";
constexpr std::string_view kGenome = "fasta";

bool has(std::initializer_list<std::string_view> formats, const std::string& file) {
  return std::find(formats.begin(), formats.end(), format_of_name(file)) != formats.end();
}

bool is_only_for_session(const std::string& file) {
  return has({"bigwig", "bedgraph", "bed", "gtf", "wig", kGenome}, file);
}

bool is_track(const std::string& file) {
  return has({"vcf", "bigwig", "bedgraph", "bed", "gff3", "gtf", "wig"}, file);
}

// The absolute path of a file under its own name, whatever links lead to its folder.
std::filesystem::path place_of(const std::string& file) {
  namespace fs = std::filesystem;
  const fs::path path(file);
  std::error_code failed;
  const fs::path folder = fs::canonical(path.has_parent_path() ? path.parent_path() : fs::path("."), failed);
  if (failed) throw Error(kFunction, printable(file) + ": cannot find its folder: " + failed.message());
  return folder / path.filename();
}

// An attribute with a leading space.
std::string attribute(const char* name, const std::string& value) {
  const std::string text = escape_xml(value);
  if (text.find("\uFFFD") != text.npos || text.find_first_of("\n\t") != text.npos)
    throw Error(kFunction, "the name " + printable(value) +
                               " has bytes that XML cannot hold; rename the file or folder");
  return std::string(" ") + name + "=\"" + text + "\"";
}

// A file as the session names it. What is read from elsewhere keeps its address.
std::string path_of(const std::string& named, const std::filesystem::path& folder) {
  const std::string file = split_index_name(named).file;
  if (is_remote(file)) return file;
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) throw Error(kFunction, printable(file) + ": no such file");
  return place_of(file).lexically_relative(folder).string();
}

// All files of the report, each once, in the order of the command line.
std::vector<std::string> all_files(const ReportOptions& options) {
  std::vector<std::string> files;
  const auto add = [&](const std::string& file) {
    if (!file.empty() && std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
  };
  for (const std::string& file : options.files) add(file);
  add(options.genes);
  return files;
}

}  // namespace

ReportOptions options_of_page(const ReportOptions& options) {
  ReportOptions page = options;
  if (options.session.empty()) return page;
  std::erase_if(page.files, is_only_for_session);
  if (page.files.empty())
    throw Error(kFunction, "no file is named that the page could draw: these are for the session alone",
                {"add a file with scores, such as the VCF of vep"});
  return page;
}

std::string session_text(const ReportOptions& options) {
  if (is_stream(options.session) || !options.session.ends_with(".xml"))
    throw Error(kFunction, printable(options.session) +
                               ": IGV knows a session by a name that ends in .xml; give such a name");
  const std::filesystem::path folder = place_of(options.session).parent_path();
  std::string genome, fasta, resources;
  if (const Assembly* named = find_assembly(options.assembly)) genome = named->ucsc;
  for (const std::string& file : all_files(options)) {
    if (has({kGenome}, file)) {
      if (!fasta.empty()) throw Error(kFunction, printable(file) + ": a second FASTA; a session has one");
      fasta = path_of(file, folder);
    } else if (is_track(file)) {
      resources += "        <Resource" + attribute("name", file_name(split_index_name(file).file)) +
                   attribute("path", path_of(file, folder)) + "/>\n";
    } else if (has({"bcf"}, file)) {
      options.log->warning("report", printable(file) + " is left out of the session: IGV reads VCF, not BCF");
    }
    // IGV calls genomes as UCSC does.
    if (genome.empty() && options.assembly.empty() && has({"vcf", "bcf"}, file))
      if (const Assembly* found = assembly_of(VcfReader(file, {}, *options.log))) genome = found->ucsc;
  }
  if (!fasta.empty()) genome = fasta;
  if (resources.empty())
    throw Error(kFunction,
                "no file is one that IGV draws, by its name: .vcf.gz, .bw, .bedgraph, .bed, .gff3 or .gtf",
                {"add one, or leave out {--session}"});
  return "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n<Session" +
         (genome.empty() ? "" : attribute("genome", genome)) +
         attribute("locus", options.regions.empty() ? "All" : options.regions.front()) +
         attribute("version", "8") + ">\n    <Resources>\n" + resources + "    </Resources>\n</Session>\n";
}

}  // namespace carbon
