// The options of a run of `carbon report`. The command line fills them in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/log.hpp"

namespace carbon {

struct ReportOptions {
  std::vector<std::string> files;
  std::string output = "-";
  std::string command;  // the command line, for the foot of the page; "" leaves it and the version out
  std::string title;    // "" for one made of the names of the files
  std::string svg;      // a folder for the figures alone, "" for none
  std::string multiqc;  // a folder for the files *_mqc.json, "" for none
  std::string session;  // a file for IGV, "" for none

  // Variants
  std::vector<std::string> tags;  // of scores; none: those that the header says are of carbon
  std::string consequence_tag;    // "" for the first of BCSQ, CSQ and ANN
  std::string assembly;           // for links to databases; "" for that of the header, "none" for no links
  std::string label;              // which alleles are positive, as in +auroc
  bool negate = false;            // low scores are positive, of tags whose direction the header does not say
  size_t top = 200;               // rows of the table of the lowest scores
  std::string probabilities;      // a table of score or scan, for the small logos of that table
  uint64_t bootstrap = 1000, seed = 0;

  // Sequences
  std::vector<std::string> regions;  // parts of tables of positions
  std::string genes;                 // GFF3, for exons

  // Embeddings
  std::string groups;  // a table that says more of each sequence
  std::string colour;  // its column

  Log* log = &silent_log();
};

}  // namespace carbon
