#include "src/plugin/host.hpp"

#include <functional>

#include "src/base/error.hpp"
#include "src/base/words.hpp"
#include "src/formats/carbon_scores.hpp"
#include "src/formats/provenance.hpp"

namespace carbon {
namespace {

// Calls a function of the plugin. An exception that comes out of it is an Error that names the plugin. The
// plugin may change how its thread rounds; it is undone here.
int enter(const std::string& name, const std::function<int()>& call) {
  const OwnEnvironment own;
  std::string what;
  try {
    return call();
  } catch (const std::exception& error) {
    what = std::string(": ") + error.what();
  } catch (...) {
  }
  throw Error("plugin", "+" + name + " threw an exception" + what + "; report this to its authors");
}

// The plugin's state. It is destroyed even if the run fails.
class State {
 public:
  explicit State(const carbon_plugin& plugin) : plugin_(plugin) {}
  ~State() {
    try {
      if (value && plugin_.destroy) plugin_.destroy(value);
    } catch (...) {
      // The run is over and has its result. A destructor cannot report this.
    }
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  void* value = nullptr;

 private:
  const carbon_plugin& plugin_;
};

}  // namespace

PluginRun::PluginRun(const carbon_plugin& plugin, const PluginRunOptions& options)
    : carbon_run{&plugin_api()}, plugin_(plugin), options_(options) {
  if (plugin.uses & CARBON_READS_RECORDS)
    reader_ = std::make_unique<VcfReader>(options.inputs.front(), options.selection, *options.log);
}

void GenotypesView::read_from(const VcfReader& from) {
  if (reader == &from) return;
  reader = &from;
  names = from.samples();
  name_views.clear();
  for (const std::string& name : names) name_views.push_back(name.c_str());
}

PluginRun::~PluginRun() {
  if (options_.stop) options_.stop->ignore();
}

int PluginRun::fail(const std::string& reason) {
  failure_ = std::make_exception_ptr(Error(options_.name, reason));
  return CARBON_ERROR;
}

Engine& PluginRun::engine() {
  if (!(plugin_.uses & CARBON_USES_MODEL))
    throw Error("plugin", "+" + options_.name + " asks for the model without CARBON_USES_MODEL");
  if (!engine_) {
    models_ = std::make_unique<LoadedModels>(options_.model);
    engine_ = std::make_unique<Engine>(models_->all());
  }
  return *engine_;
}

const VcfReader& PluginRun::reader() const {
  if (!reader_) throw Error("plugin", "+" + options_.name + " asks for records without CARBON_READS_RECORDS");
  return *reader_;
}

void PluginRun::show_progress(uint64_t done, const char* unit, const char* where) {
  if (!progress_) {
    unit_ = unit;
    progress_ = std::make_unique<Progress>(*options_.log, options_.progress, "+" + options_.name, unit);
  }
  progress_->update(done, where);
  done_ = done;
}

void PluginRun::flush_outputs_for_reader() {
  for (carbon_output& output : outputs_)
    output.text ? output.text->flush_for_reader() : output.vcf->flush_for_reader();
}

carbon_output* PluginRun::open_output(const char* path) {
  const bool is_main = !path;
  if (is_main && (plugin_.uses & CARBON_WRITES_RECORDS))
    throw Error("plugin",
                "+" + options_.name +
                    " writes both records and text to its main output; the text needs another file");
  if (is_main && main_output_open_)
    throw Error("plugin", "+" + options_.name + " opens its output a second time");
  main_output_open_ |= is_main;
  if (is_main && (plugin_.uses & CARBON_WRITES_VCF))
    return &outputs_.emplace_back("the VCF of +" + options_.name, record_options());
  // That of -o is declared, but may be opened later.
  if (!is_main) declare_output(path, "plugin");
  return &outputs_.emplace_back(is_main ? options_.output : path);
}

void PluginRun::declare_tag(const InfoTag& tag) {
  if (!(plugin_.uses & CARBON_WRITES_RECORDS) || writer_)
    throw Error("plugin", "+" + options_.name + " declares the tag " + tag.id +
                              (writer_ ? " after init" : " without CARBON_WRITES_RECORDS"));
  tags_.push_back(tag);
}

void PluginRun::set_tag(carbon_record& record, const std::string& tag, const std::vector<float>& values) {
  if (!writer_)
    throw Error("plugin",
                "+" + options_.name + " sets the tag " + tag + ", but no records are being written");
  writer_->set_floats(record.record, tag, values);
}

void PluginRun::write_record(carbon_record& record) {
  const bool at_hand = &record == at_hand_.get();
  if (!writer_ || record.written || (!at_hand && !later_.contains(&record)))
    throw Error("plugin",
                "+" + options_.name + " writes a record that is not one of those that it may write");
  writer_->write(record.record);
  record.written = true;
  if (at_hand) return;
  const auto held = later_.find(&record);
  spare_.push_back(std::move(held->second));
  later_.erase(held);
}

void PluginRun::write_line(const std::string& line) {
  if (line.find('\n') != std::string::npos)
    throw Error("plugin", "+" + options_.name + " writes several lines in one call");
  const bool of_header = line.starts_with("##");
  if (!(plugin_.uses & CARBON_WRITES_RECORDS) || (!of_header && !writer_))
    throw Error("plugin", "+" + options_.name + " writes a line, but no records are being written");
  if (of_header && writer_)
    throw Error("plugin", "+" + options_.name + " writes a line of the header after init");
  if (!of_header) {
    writer_->set_line(line_, line, "the VCF of +" + options_.name, "line " + std::to_string(++lines_));
    writer_->write(line_);
    return;
  }
  const HeaderFields fields = header_fields(line);
  const InfoTag tag{header_field(fields, "ID"), header_field(fields, "Number"), header_field(fields, "Type"),
                    header_field(fields, "Description")};
  takes_lines_ = true;
  if (line.starts_with("##INFO="))
    declare_tag(tag);
  else
    header_lines_.push_back(line);
}

// Throws the failure that the plugin has given a reason for. A negative status without a reason is a failure,
// too.
void PluginRun::check(int status) {
  if (status >= 0) return;
  if (failure_) std::rethrow_exception(failure_);
  throw Error("plugin", "+" + options_.name + " failed without giving a reason; report this to its authors");
}

// Throws Error for a type that the output cannot have, or if it cannot be written.
VcfWriterOptions PluginRun::record_options() const {
  VcfWriterOptions out;
  out.path = options_.output;
  out.log = options_.log;
  if (!options_.output_type.empty()) parse_output_type(options_.output_type, out, kPluginOutputTypes);
  if (output_type(out) == 't')
    throw Error("plugin", "plugins write records as VCF or BCF, not as a table",
                {"choose VCF or BCF with {-O} u, b, v or z"});
  replaced_file(out.path);
  if (options_.version_lines) out.header_lines = version_lines("plugin", options_.command_line);
  out.header_lines.insert(out.header_lines.end(), header_lines_.begin(), header_lines_.end());
  return out;
}

void PluginRun::open_writer() {
  VcfWriterOptions out = record_options();
  out.tags = tags_;
  out.takes_lines = takes_lines_;
  writer_ = std::make_unique<VcfWriter>(*reader_, out);
}

// Files appear together, as far as that can be: only renaming is left when the first one appears.
void PluginRun::close_outputs() {
  for (carbon_output& output : outputs_)
    if (output.text) output.text->finish();
  if (writer_) writer_->close();
  for (carbon_output& output : outputs_)
    if (output.vcf) output.vcf->close();
  for (carbon_output& output : outputs_)
    if (output.text) output.text->commit();
}

// A plugin cannot be continued, so the run need not reach a safe point.
void PluginRun::watch_for_stop() {
  if (!options_.stop) return;
  options_.stop->watch([this] {
    const uint64_t done = done_;
    const std::string unit = done > 0 ? unit_ : plugin_.uses & CARBON_READS_RECORDS ? "records" : "steps";
    end_early(*options_.stop,
              {"+" + options_.name, std::to_string(done) + " " + unit, nullptr, nullptr, [] {}},
              *options_.log);
  });
}

std::unique_ptr<carbon_record> PluginRun::new_record() {
  if (spare_.empty()) return std::make_unique<carbon_record>(carbon_record{reader_.get(), {}, false});
  std::unique_ptr<carbon_record> record = std::move(spare_.back());
  spare_.pop_back();
  record->written = false;
  return record;
}

// What becomes of the record at hand.
void PluginRun::take_verdict(int verdict) {
  const bool later = writer_ && verdict == CARBON_LATER;
  if (at_hand_->written && !later)
    throw Error("plugin",
                "+" + options_.name + " has written the record at hand, but does not return CARBON_LATER");
  if (writer_ && verdict == CARBON_KEEP) writer_->write(at_hand_->record);
  carbon_record* const handle = at_hand_.get();
  if (later && !handle->written)
    later_.emplace(handle, std::move(at_hand_));
  else
    spare_.push_back(std::move(at_hand_));
}

void PluginRun::process_records(void* state) {
  if (plugin_.uses & CARBON_WRITES_RECORDS) open_writer();
  uint64_t done = 0;
  for (at_hand_ = new_record(); reader_->next(at_hand_->record); at_hand_ = new_record()) {
    const std::string where = at_hand_->record.contig() + ":" + std::to_string(at_hand_->record.pos() + 1);
    const int verdict = enter(options_.name, [&] { return plugin_.process(this, state, at_hand_.get()); });
    check(verdict);
    take_verdict(verdict);
    show_progress(++done, "records", where.c_str());
  }
  at_hand_.reset();
}

void PluginRun::check_all_written() const {
  if (!later_.empty())
    throw Error("plugin", "+" + options_.name + " has kept " + count_of(later_.size(), "record") +
                              " that it never wrote; report this to its authors");
}

void PluginRun::run() {
  std::vector<std::string> arguments = {options_.name};
  arguments.insert(arguments.end(), options_.arguments.begin(), options_.arguments.end());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  if (plugin_.uses & CARBON_WRITES_VCF) record_options();  // an output that cannot be written fails now
  watch_for_stop();
  State state(plugin_);
  const int argc = static_cast<int>(arguments.size());
  check(enter(options_.name, [&] { return plugin_.init(this, argc, argv.data(), &state.value); }));
  if (reader_) process_records(state.value);
  check(enter(options_.name, [&] { return plugin_.finish(this, state.value); }));
  check_all_written();
  if (progress_) progress_->finish();
  if (options_.stop) options_.stop->ignore();
  close_outputs();
}

std::string plugin_usage(const carbon_plugin& plugin, const std::string& name) {
  std::string text;
  enter(name, [&] {
    text = plugin.usage();
    return int{CARBON_DONE};
  });
  return text;
}

std::vector<std::string> run_plugin(const carbon_plugin& plugin, const PluginRunOptions& options) {
  PluginRun run(plugin, options);
  run.run();
  return run.unmet;
}

}  // namespace carbon
