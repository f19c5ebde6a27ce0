// The engine's end of a Completion.
#pragma once

#include "db/result.h"

namespace pitwall::engine {

struct Operator;

// Either call once per started operator, on any thread. The operator is open until then.
class CompletionReceiver {
 public:
  virtual ~CompletionReceiver() = default;
  virtual void completed(Operator& op, Status status) = 0;
  virtual void dropped(Operator& op) = 0;  // the Completion was destroyed uncalled
};

}  // namespace pitwall::engine
