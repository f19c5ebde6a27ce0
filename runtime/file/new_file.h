// Writing a file completely or not at all.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "db/result.h"
#include "db/unfinished.h"

namespace pitwall {

// A file that replaces the one at the path when finish() succeeds, and leaves it as it is otherwise.
class NewFile {
 public:
  // Errors: invalidInput for a path that is no regular file; io.
  static Result<NewFile> create(const std::string& path);
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  const std::string& path() const { return path_; }  // absolute, with links resolved
  Status write(std::string_view bytes);
  // Nothing can be written any more: what a full disk does not take is reported here, and finish() only replaces the file at
  // the path. For files that belong together; else finish() alone is enough.
  Status complete();
  Status finish();

 private:
  NewFile(std::string path, Unfinished draft, int file)
      : path_(std::move(path)), draft_(std::move(draft)), file_(file) {}
  Failure refused(int error) const;
  std::string path_;
  Unfinished draft_;
  int file_;
  bool is_unnamed_ = false;  // gets the draft's name when it is complete
};

}  // namespace pitwall
