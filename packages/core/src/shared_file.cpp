// Files without a name, from memfd_create where there is one, else from shm_open with the name taken away at once.
#include <adjoint/core/error.h>
#include <adjoint/core/shared_file.h>
#include <adjoint/core/shared_memory.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>

#if defined(__unix__) || defined(__APPLE__)
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace adjoint {

#if defined(__unix__) || defined(__APPLE__)

namespace {

struct Mapping {
  void* data;
  size_t nbytes;
  int descriptor;
};

void unmap(void* context) noexcept {
  auto* m = static_cast<Mapping*>(context);
  munmap(m->data, m->nbytes);
  close(m->descriptor);
  delete m;
}

[[noreturn]] void refuse(int descriptor, const char* what) {
  const int error = errno;
  if (descriptor >= 0) close(descriptor);
  fail(ErrorKind::runtime, "share_memory: ", what, ": ", std::strerror(error));
}

// Each block keeps a descriptor: their limit is raised as far as a process may, as the runtimes of Java and Go do.
void leave_room(int descriptor) noexcept {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || static_cast<rlim_t>(descriptor) < limit.rlim_cur / 2 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

int nameless() {
#if defined(__linux__)
  return memfd_create("adjoint", MFD_CLOEXEC);
#else
  static std::atomic<unsigned> count{0};
  const std::string name = "/adjoint" + std::to_string(getpid()) + "_" + std::to_string(count++);
  const int descriptor = shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  if (descriptor >= 0) shm_unlink(name.c_str());
  return descriptor;
#endif
}

Storage* map(int descriptor, size_t nbytes, int populate) {
  const size_t mapped = std::max<size_t>(nbytes, 1);   // an empty mapping is refused
  leave_room(descriptor);
  void* data = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_SHARED | populate, descriptor, 0);
  if (data == MAP_FAILED) refuse(descriptor, "the memory cannot be mapped");
  return Storage::borrow(data, nbytes, unmap, new Mapping{data, mapped, descriptor});
}

}  // namespace

Storage* make_shared_file(size_t nbytes) {
  const int descriptor = nameless();
  if (descriptor < 0) refuse(descriptor, "the system gives no shared memory");
  if (ftruncate(descriptor, static_cast<off_t>(std::max<size_t>(nbytes, 1))) != 0) refuse(descriptor, "the system gives no shared memory");
#if defined(__linux__)
  return map(descriptor, nbytes, MAP_POPULATE);   // it is written to at once: one call instead of a fault a page
#else
  return map(descriptor, nbytes, 0);
#endif
}

Storage* map_shared_file(int descriptor, size_t nbytes) {
  struct stat file;
  if (fstat(descriptor, &file) != 0) refuse(descriptor, "no such descriptor");
  if (static_cast<size_t>(file.st_size) < nbytes) {   // reading behind its end would end the process
    close(descriptor);
    fail(ErrorKind::runtime, "share_memory: expected a file of at least ", nbytes, " bytes, got ", file.st_size);
  }
  return map(descriptor, nbytes, 0);
}

int shared_file(const Storage* s) noexcept {
  while (s && shared_by(s)) s = shared_by(s);
  return s && s->deleter == unmap ? static_cast<Mapping*>(s->context)->descriptor : -1;
}

#else

Storage* make_shared_file(size_t) { fail(ErrorKind::not_implemented, "share_memory: this system has no files without a name"); }
Storage* map_shared_file(int, size_t) { fail(ErrorKind::not_implemented, "share_memory: this system has no files without a name"); }
int shared_file(const Storage*) noexcept { return -1; }

#endif

}  // namespace adjoint
