#include "db/file/write_remedy.h"

#include <cerrno>

namespace pitwall {

const char* writeRemedy(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR: return "create its folder, or choose another path";
    case EACCES:
    case EPERM: return "choose a folder that you may write";
    case EROFS: return "choose a path on a file system that can be written";
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return "free space, or choose a path on another disk";
    default: return "choose another path";
  }
}

}  // namespace pitwall
