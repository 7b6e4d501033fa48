/* The program `carbon` of the portable archive: it starts libexec/carbon/carbon of the same archive.
 *
 * That program needs glibc 2.28. Where this system has it, the system's loader starts the program, as any other. Elsewhere (an older
 * glibc, another C library, an empty container) the loader in the archive does, with the C library beside it. CARBON_LOADER=host or
 * own asks for either. This file is linked statically with musl: it needs nothing of the system, not even /proc.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The kernel starts a program of glibc by HOST_LOADER, whose name every such program of this machine has in it. */
#if defined(__x86_64__)
#define MACHINE EM_X86_64
#define TRIPLET "x86_64-linux-gnu"
#define LOADER_NAME "ld-linux-x86-64.so.2"
#define HOST_LOADER "/lib64/" LOADER_NAME
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#define TRIPLET "aarch64-linux-gnu"
#define LOADER_NAME "ld-linux-aarch64.so.1"
#define HOST_LOADER "/lib/" LOADER_NAME
#else
#error "no names of the C library of this machine"
#endif
#define PROGRAM "/libexec/carbon/carbon"
#define LIBRARIES "/libexec/carbon/glibc"
#define LOADER LIBRARIES "/" LOADER_NAME
/* The newest version of glibc's symbols that the program needs. */
#define NEEDED "GLIBC_2.28"

static void fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("carbon: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  exit(1);
}

/* The folder that holds bin, without symbolic links. */
static void find_archive(char folder[PATH_MAX]) {
  const char* started_as = (const char*)getauxval(AT_EXECFN);
  if (realpath("/proc/self/exe", folder) == NULL && (started_as == NULL || realpath(started_as, folder) == NULL))
    fail("cannot find out where it lies, without /proc and by the name %s: %s; start it by its whole path",
         started_as == NULL ? "(none)" : started_as, strerror(errno));
  for (int i = 0; i < 2; ++i) {
    char* slash = strrchr(folder, '/');
    if (slash == NULL) break;
    *slash = '\0';
  }
}

static void join(char path[PATH_MAX], const char* folder, const char* rest) {
  if (snprintf(path, PATH_MAX, "%s%s", folder, rest) >= PATH_MAX) fail("the name of its folder is too long: %s", folder);
}

/* Whether a file is a C library for this machine that has the symbols. */
static int has_needed_symbols(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  struct stat status;
  int found = 0;
  if (fstat(file, &status) == 0 && status.st_size > (off_t)sizeof(Elf64_Ehdr)) {
    const size_t size = (size_t)status.st_size;
    const unsigned char* bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes != MAP_FAILED) {
      const Elf64_Ehdr* header = (const Elf64_Ehdr*)bytes;
      found = memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == ELFCLASS64 &&
              header->e_machine == MACHINE && memmem(bytes, size, NEEDED, sizeof NEEDED) != NULL;
      munmap((void*)bytes, size);
    }
  }
  close(file);
  return found;
}

static int host_suffices(void) {
  static const char* const places[] = {"/lib/" TRIPLET "/libc.so.6", "/usr/lib/" TRIPLET "/libc.so.6",
                                       "/lib64/libc.so.6", "/usr/lib64/libc.so.6", "/usr/lib/libc.so.6"};
  if (access(HOST_LOADER, X_OK) != 0) return 0;
  for (size_t i = 0; i < sizeof places / sizeof *places; ++i)
    if (access(places[i], R_OK) == 0) return has_needed_symbols(places[i]);
  return 0;
}

/* By the loader in the archive, which is given what the system's would take from the environment. */
static void start_by_own_loader(const char* folder, const char* program, int argc, char** argv) {
  if (strpbrk(folder, ":$") != NULL)
    fail("its folder %s has a : or $ in its name, which the loader of the C library takes for something else; move it to a "
         "folder without them, or set CARBON_LOADER=host where this system has glibc 2.28 or newer",
         folder);
  char loader[PATH_MAX], libraries[PATH_MAX];
  join(loader, folder, LOADER);
  join(libraries, folder, LIBRARIES);
  const char* users = getenv("LD_LIBRARY_PATH");
  char* path = NULL;
  if (asprintf(&path, "%s%s%s", libraries, users != NULL && *users != '\0' ? ":" : "", users != NULL ? users : "") < 0)
    fail("out of memory");
  /* Libraries for the C library of this system. */
  unsetenv("LD_PRELOAD");
  unsetenv("LD_AUDIT");
  /* The kernel will take the loader for the program. */
  if (setenv("CARBON_INTERNAL_PROGRAM", program, 1) != 0) fail("out of memory");
  char** words = calloc((size_t)argc + 8, sizeof *words);
  if (words == NULL) fail("out of memory");
  size_t count = 0;
  words[count++] = argc > 0 ? argv[0] : "carbon";
  words[count++] = "--argv0";
  words[count++] = argc > 0 ? argv[0] : "carbon";
  words[count++] = "--library-path";
  words[count++] = path;
  words[count++] = (char*)program;
  for (int i = 1; i < argc; ++i) words[count++] = argv[i];
  execv(loader, words);
  fail("cannot start %s: %s%s", loader, strerror(errno),
       errno == EACCES ? "; programs may not run from a file system that is mounted with noexec" : "");
}

int main(int argc, char** argv) {
  char folder[PATH_MAX], program[PATH_MAX];
  find_archive(folder);
  join(program, folder, PROGRAM);
  if (access(program, F_OK) != 0)
    fail("%s: %s; keep the files of the archive together, and link to this one instead of copying it", program, strerror(errno));
  const char* wanted = getenv("CARBON_LOADER");
  if (wanted == NULL || *wanted == '\0') wanted = host_suffices() ? "host" : "own";
  if (strcmp(wanted, "own") == 0) start_by_own_loader(folder, program, argc, argv);
  if (strcmp(wanted, "host") != 0) fail("CARBON_LOADER is \"%s\"; it may be host or own", wanted);
  unsetenv("CARBON_INTERNAL_PROGRAM");
  execv(program, argv);
  fail("cannot start %s: %s%s", program, strerror(errno),
       errno == ENOENT   ? "; this system has no loader " HOST_LOADER ", so CARBON_LOADER=host cannot work here"
       : errno == EACCES ? "; programs may not run from a file system that is mounted with noexec"
                         : "");
}
