// src/files/: how files are read and written, for all rooms: names come in, and the lines of inputs
// (text_input) and outputs that appear when they are complete (output), or that --resume continues
// (resumable_output), go out.
//
// Here is which files a run reads and writes: the one place where it is known that an output would replace an
// input or another output, and that a pipe would be opened a second time.
//
// The command line declares the files that its options name, before anything is read. What opens files asks
// again, so that names which are derived from others (STEM.json, an index) and names that a plugin chooses
// are known too. A program that has no register, such as one that uses libcarbon, is asked nothing.
//
// Standard input, output and error are files of a run, too: what may be read from or written to them.
#pragma once

#include <memory>
#include <string>

namespace carbon {

/// The register. The program has one, from its start to its end. It keeps copies of what comes from pipes and
/// is read more than once, and removes them at its end.
class RunFiles {
 public:
  RunFiles();
  ~RunFiles();
  RunFiles(const RunFiles&) = delete;
  RunFiles& operator=(const RunFiles&) = delete;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

/// How often a command opens an input. One that is read again is copied if it comes from a pipe.
enum class InputUse { once, again };

/// Says that the run will read `path` ("-": standard input). Throws Error, from `function`, if an output has
/// been declared that would replace it, or if it is a pipe that has been declared already. Nothing is said of
/// a path that leads to no file, and of directories.
void declare_input(const std::string& path, InputUse use, const std::string& function);
/// Says that the run will write `path`. Throws Error, from `function`, if this would replace an input or
/// another output that has been declared. Streams and devices, such as "-" and /dev/null, replace nothing;
/// but a regular file to which standard output leads may not be an input.
void declare_output(const std::string& path, const std::string& function);

/// Called before an input is opened. Returns the path to open: `path`, or that of its copy. Throws Error,
/// from `function`, if the run is going to replace this file, or if it is a pipe that was opened before and
/// is not kept.
std::string input_to_open(const std::string& path, const std::string& function);

/// An output that is being written: while this exists, no other output may be the same file.
class OutputClaim {
 public:
  /// Throws Error if the output would replace an input, or another output that is being written.
  explicit OutputClaim(const std::string& path);
  ~OutputClaim();
  OutputClaim(const OutputClaim&) = delete;
  OutputClaim& operator=(const OutputClaim&) = delete;

 private:
  RunFiles::Impl* files_;  // null without a register
};

/// Gives those of the descriptors 0, 1 and 2 that are closed to /dev/null, so that no file which is opened
/// later gets their number and with it the messages or the data of the program. Standard input can then not
/// be read and standard output not be written, which check_data_output() and check_data_input() report;
/// messages are lost. Called before anything else is opened.
void open_closed_descriptors();

/// The descriptor that a path such as "-", /dev/stdout, /dev/fd/3 or /proc/self/fd/3 stands for as an output,
/// or -1.
int output_descriptor(const std::string& path);

/// Throws Error, in the name of `function`, if data cannot be written to the open descriptor, because it was
/// closed or is for reading, or if it is the same regular file as standard error: messages would stand among
/// the data.
void check_data_output(int descriptor, const std::string& function);

/// Throws Error, in the name of `function`, if `path` is standard input and that is closed. Called by
/// whatever opens an input.
void check_data_input(const std::string& path, const std::string& function);

}  // namespace carbon
