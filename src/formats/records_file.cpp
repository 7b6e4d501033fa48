#include "src/formats/records_file.hpp"

#include <htslib/bgzf.h>
#include <htslib/hfile.h>
#include <htslib/hts_log.h>

#include <cerrno>
#include <memory>

#include "src/base/error.hpp"
#include "src/files/index_name.hpp"
#include "src/files/remote.hpp"
#include "src/files/run_files.hpp"
#include "src/files/text_input.hpp"

namespace carbon {
namespace {

struct CloseAbruptly {
  void operator()(hFILE* file) const { hclose_abruptly(file); }
};

struct Close {
  void operator()(BGZF* file) const { (void)!bgzf_close(file); }
};

/// Throws Error for a text with the marks of an editor, which htslib takes for no text.
void check_marks(hFILE* file, const std::string& shown, const std::string& function) {
  const std::unique_ptr<BGZF, Close> stream(bgzf_hopen(file, "r"));
  if (!stream) return hclose_abruptly(file);
  (void)TextInput(shown, function, stream.get(), nullptr, 0).peek();
}

/// Keeps htslib silent until the end of the scope.
class Silence {
 public:
  Silence() { hts_set_log_level(HTS_LOG_OFF); }
  ~Silence() { hts_set_log_level(level_); }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  htsLogLevel level_ = hts_get_log_level();
};

}  // namespace

htsFile* open_records(const std::string& name, const std::string& shown, const std::string& function) {
  const Silence silence;
  const std::string path = split_index_name(name).file;
  check_url(path, function);
  const std::string opened = input_to_open(path, function);
  errno = 0;
  std::unique_ptr<hFILE, CloseAbruptly> file(hopen(opened.c_str(), "r"));
  htsFormat format = {};
  if (!file || hts_detect_format(file.get(), &format) < 0) return nullptr;
  if (format.format == htsget)
    throw Error(
        function,
        shown +
            ": this is an htsget ticket, which carbon does not follow; download the records that it names "
            "and give that file");
  // htslib would decode the beginning of it, which is much to go wrong for a file that nobody wants.
  if (format.format == cram)
    throw Error(function,
                shown + ": this is a CRAM file, which holds reads and no records or tables; check the path");
  htsFile* const records = hts_hopen(file.get(), path.c_str(), "r");
  if (!records && errno == ENOEXEC) {
    check_marks(file.release(), shown, function);
    errno = ENOEXEC;
  } else if (records) {
    (void)file.release();  // which `records` closes
  }
  return records;
}

}  // namespace carbon
