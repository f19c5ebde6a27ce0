// Files that are being made under another name than the one they will have. Their process removes them at its end, also
// when a signal ends it: signals are sent to a process, so the names are those of the whole process.
#pragma once

#include <functional>
#include <string>
#include <utility>

namespace pitwall {

// Removes a file and what SQLite and createTrace() put beside it. A folder stays.
void removeWithSideFiles(const std::string& path) noexcept;

// A file from before it is made until it has its final name, or a temporary folder. The destructor removes what still
// has the name.
class Unfinished {
 public:
  enum class Kind : bool { file, folder };

  Unfinished() = default;  // none
  // A folder is removed with its contents.
  explicit Unfinished(std::string path, Kind kind = Kind::file);
  // What `make` makes: it returns the path, or "" for none. removeUnfinished() waits for it.
  static Unfinished madeBy(const std::function<std::string()>& make, Kind kind = Kind::file);
  Unfinished(Unfinished&& other) noexcept;
  Unfinished& operator=(Unfinished&& other) noexcept;
  ~Unfinished() { remove(); }

  const std::string& path() const { return path_; }  // "" = none

 private:
  void remove() noexcept;
  std::string path_;
  Kind kind_ = Kind::file;
};

// Removes them all, for a process that ends right after it: the other threads are stopped for ever.
void removeUnfinished() noexcept;

// The name under which createTrace() makes an empty trace before it replaces the one at `path`.
std::string draftPath(const std::string& path);

}  // namespace pitwall
