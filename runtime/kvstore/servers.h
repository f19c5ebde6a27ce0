// The server processes (ranks) of a job, as its workers see them: each holds keys, or parts of them, and updates them by what workers
// push, in the order in which that arrives.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "db/result.h"
#include "db/units.h"
#include "runtime/session.h"

namespace pitwall::kvstore {

struct ServerRequest {
  enum class Kind : std::uint8_t {
    init,       // the first contents of a key; those of worker 0 count
    push,       // a gradient, by which the optimizer updates the key
    pull,       // the contents of a key
    optimizer,  // of all keys: its name and those of its options; `data` has their values. That of worker 0 counts
    meet,       // done when all workers have sent it
    close,  // the same, at the end of the store
  };
  Kind kind = Kind::meet;
  int server = 0;             // from 0
  std::uint32_t key = 0;      // by order of init(), the same on all workers
  std::string name = {};      // of the key, at most kLongestName
  Bytes bytes = 0;            // of `data`
  std::int64_t elements = 0;  // of what the server has of the key
  float rate = -1;            // of the update; -1: of the optimizer's options
  std::int64_t batch_size = 1;
  int priority = 0;
  static constexpr std::size_t kLongestName = 223;
};

class Servers {
 public:
  using Done = std::function<void(Status)>;

  // Called by all workers, while all servers are in serve(). Errors: unsupported where this build has no MPI or the job no servers, with what
  // to do; io where MPI fails or not all ranks come within PITWALL_KVSTORE_TIMEOUT.
  static Result<std::shared_ptr<Servers>> open(Session& session);
  // Closes the store, and waits until all workers do, unless a request has failed.
  virtual ~Servers() = default;

  virtual int rank() const = 0;  // of this process among the workers
  virtual int workers() const = 0;
  virtual int count() const = 0;  // servers

  // Sends the request; higher priorities first. `data` is read, or written by a pull, until `done` is called, once, by any thread.
  // Errors that it gets: io naming key and rank, when a rank has ended or the server does not answer within PITWALL_KVSTORE_TIMEOUT.
  // All later requests have the same error.
  virtual void start(ServerRequest request, void* data, Done done) = 0;
};

// As KVStore::serve().
Result<bool> serve(Session& session);

}  // namespace pitwall::kvstore
