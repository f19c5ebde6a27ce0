// The runs of a search so far, in a text file that is complete after every run: a search that was killed continues from it.
#pragma once

#include <string>
#include <vector>

#include "analyzer/tune/search.h"
#include "db/result.h"

namespace pitwall::tuning {

// One line per run, columns separated by tabs: for spreadsheets too.
class History {
 public:
  struct Entry {
    Run run;
    std::string settings;  // textOf() the candidate's, escaped
    RunResult result;
    // In effect when the run was chosen: another call may continue with others.
    double budget_s = 0;
    int most_runs = 0;
  };

  // Reads the file at `path` if it holds an unfinished search of the same `identity` (a line); else begins anew. With `restart`
  // it always begins anew. Errors: invalidInput (an unfinished search of another identity, a file that is none), io.
  static Result<History> open(const std::string& path, const std::string& identity, bool restart);

  const std::vector<Entry>& entries() const { return entries_; }
  // How long the first, recorded, run took; 0 = it has not ended yet.
  double firstSeconds() const { return first_seconds_; }

  // Each writes the whole file, or on an error nothing. Errors: io.
  Status setFirst(double seconds);
  Status add(Entry entry);
  Status finish();

 private:
  History(std::string path, std::string identity) : path_(std::move(path)), identity_(std::move(identity)) {}
  Status read(const std::string& text);
  Status write() const;

  std::string path_, identity_;
  std::vector<Entry> entries_;
  double first_seconds_ = 0;
  bool is_finished_ = false;
};

}  // namespace pitwall::tuning
