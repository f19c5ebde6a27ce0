// What a simulation changes, and how it is written: "data_wait=0", "workers=4", "op:conv.*=0.5".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "db/result.h"

namespace pitwall::simulate {

enum class EditKind : std::uint8_t {
  dataWait,       // data_wait=F: waits for batches take F times as long; 0 removes them
  workers,        // workers=N: N workers make batches beside the training
  prefetch,       // prefetch=N: batches that may be ready and not yet taken
  operators,      // op:REGEX=F or op:REGEX=roofline: what has this name takes F times as long
  threads,        // threads=N: threads of an operator
  batch,          // batch=xF: F times as many items in a batch
  bulk,           // bulk=N: operators that the engine starts together
  engineWorkers,  // engine_workers=N: operators that the engine runs side by side
  launch,         // launch=F: calls that launch device work take F times as long
  copies,         // copies=async: copies to a device block neither the host nor, at best, kernels
  bandwidth,      // bandwidth=F: links transfer F times as many bytes per second
  latency,        // latency=F: what a transfer takes beside its bytes, times F
  ranks,          // ranks=N: N ranks take part in collectives, each with as much work as now
};

struct Edit {
  EditKind kind = EditKind::dataWait;
  std::string text;       // as written
  std::string pattern;    // of operators: a regular expression, found anywhere in the name
  double value = 0;       // the number; of operators and copies a factor
  bool roofline = false;  // of operators: as fast as the machine's peak rates allow
};

// One line of help for each edit.
struct EditHelp {
  const char *form, *meaning;
};
std::vector<EditHelp> editHelp();

// Errors: invalidInput, naming the text, what is wrong and the forms that there are.
Result<Edit> parseEdit(std::string_view text);

}  // namespace pitwall::simulate
