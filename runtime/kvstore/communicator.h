// Exchanges between the processes (ranks) of a job.
//
// All ranks announce the same exchanges in the same order, which their programs have; they start each when its data is there, in any
// order. What is ready on all ranks is exchanged, higher priorities first.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "db/result.h"
#include "db/units.h"
#include "runtime/session.h"

namespace pitwall::kvstore {

struct Exchange {
  enum class Kind : std::uint8_t {
    sum,        // float32: `data` becomes the sum over all ranks
    fromFirst,  // `data` becomes that of rank 0
    gather,     // `output` becomes the `data` of rank 0, of rank 1, ...
    meet,       // no data: complete when all ranks have started it
  };
  std::string key;
  Kind kind = Kind::sum;
  Bytes bytes = 0;  // of `data`
  int priority = 0;
  bool has_limit = true;  // false: waits as long as all ranks live
};

class Communicator {
 public:
  using Done = std::function<void(Status)>;

  // Called by all ranks. Errors: unsupported where this build has no MPI, saying what to install; io where MPI fails or not all ranks
  // call it within PITWALL_KVSTORE_TIMEOUT.
  static Result<std::shared_ptr<Communicator>> open(Session& session);
  // Waits until all ranks are here, unless an exchange has failed.
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // The number of the next exchange.
  virtual std::uint64_t announce(Exchange exchange) = 0;
  // The data is there; it stays until `done` is called, once, by any thread. `output`: that of a gather; a sum is written there too, unless
  // nullptr. Errors that `done` gets: io naming key and rank, when a rank has ended or did not start the exchange within
  // PITWALL_KVSTORE_TIMEOUT. All later exchanges have the same error.
  virtual void start(std::uint64_t number, void* data, void* output, Done done) = 0;
  // The data will never come: an operator before has failed. The exchanges of all ranks fail.
  virtual void withdraw(std::uint64_t number) = 0;
};

// An announced exchange. Destroyed before it was started, it is withdrawn.
class Ticket {
 public:
  Ticket(std::shared_ptr<Communicator> communicator, Exchange exchange)
      : communicator_(std::move(communicator)), number_(communicator_->announce(std::move(exchange))) {}
  Ticket(Ticket&& other) noexcept : communicator_(std::move(other.communicator_)), number_(other.number_) {}
  Ticket& operator=(Ticket&&) = delete;
  ~Ticket() {
    if (communicator_ != nullptr) communicator_->withdraw(number_);
  }
  void start(void* data, void* output, Communicator::Done done) {
    const std::shared_ptr<Communicator> communicator = std::exchange(communicator_, nullptr);
    communicator->start(number_, data, output, std::move(done));
  }

 private:
  std::shared_ptr<Communicator> communicator_;
  std::uint64_t number_;
};

}  // namespace pitwall::kvstore
