// The name of a file to be read, which may be a stream.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "db/result.h"
#include "db/temporary.h"

namespace pitwall {

// What can be read at any place and again: the file, or a copy of a stream.
struct InputPath {
  std::string path;
  std::string shown;  // for messages: the name as given, or "standard input"; control characters escaped
  std::shared_ptr<const TemporaryFolder> copy;  // of a stream; its last owner removes it
};

// Whether it can be read only once: "-", which is standard input, or a pipe.
bool isStream(const std::string& name);

// Opens the input and examines it; a stream is copied to its end into the system's temporary folder. A pipe without a writer
// is waited for. Errors: notFound; io; invalidInput for a device, socket, folder or terminal, and for a stream that holds
// nothing; cancelled, within a tenth of a second after `cancel` becomes true.
Result<InputPath> inputPath(const std::string& name, const std::atomic<bool>* cancel = nullptr);

}  // namespace pitwall
