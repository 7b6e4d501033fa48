// Standard input, output and error: closed ones, and what may be read from or written to them.
#pragma once

#include <string>

namespace carbon {

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
