// A session with its trace in a temporary folder, and environment variables for the length of a scope.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "db/reader.h"
#include "runtime/session.h"

namespace pitwall {

// An environment variable for the length of a scope.
class Env {
 public:
  Env(std::string name, const std::string& value) : name_(std::move(name)) {
    if (const char* old = getenv(name_.c_str()); old != nullptr) {
      old_ = old;
      was_set_ = true;
    }
    setenv(name_.c_str(), value.c_str(), 1);
  }
  ~Env() {
    if (was_set_) {
      setenv(name_.c_str(), old_.c_str(), 1);
    } else {
      unsetenv(name_.c_str());
    }
  }
  Env(const Env&) = delete;
  Env& operator=(const Env&) = delete;

 private:
  std::string name_, old_;
  bool was_set_ = false;
};

class SessionTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("pitwall_session_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    path_ = folder_ / "run.pitwall";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static std::unique_ptr<Session> open(SessionOptions options = {}) {
    if (options.backend.empty()) options.backend = "null";
    auto session = Session::open(std::move(options));
    EXPECT_TRUE(session.has_value()) << session.error().message;
    return session.has_value() ? std::move(session).value() : nullptr;
  }
  static std::string refusal(SessionOptions options = {}) {
    const auto session = Session::open(std::move(options));
    EXPECT_FALSE(session.has_value());
    return session.has_value() ? "" : session.error().message;
  }
  std::unique_ptr<Trace> trace() const {
    auto opened = Trace::open(path_);
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    return opened.has_value() ? std::move(opened).value() : nullptr;
  }

  std::filesystem::path folder_;
  std::string path_;
};

inline OperatorDesc operatorThat(std::function<Status()> body) {
  OperatorDesc op;
  op.run = [body = std::move(body)](const RunContext&) { return body(); };
  return op;
}

}  // namespace pitwall
