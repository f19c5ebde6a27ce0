#include "gui/timeline/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pitwall::gui {

MappedFile mapFile(const std::string& path) {
  MappedFile file;
  const int handle = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (handle < 0) return file;
  struct stat about {};
  if (::fstat(handle, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0) {
    const auto size = static_cast<std::size_t>(about.st_size);
    void* at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, handle, 0);
    if (at != MAP_FAILED) {
      file.bytes = {static_cast<const std::byte*>(at), size};
      file.owner = std::shared_ptr<const void>(at, [size](void* mapped) { ::munmap(mapped, size); });
    }
  }
  ::close(handle);
  return file;
}

}  // namespace pitwall::gui
