// Secrets in short options: `curl -u joe:secret`, `mysql -psecret`, `redis-cli -a secret`.
#pragma once

#include <string_view>

namespace pitwall::redact {

// Reads a command line word by word, since what an option means depends on the program before it.
class OptionReader {
 public:
  // How many characters of `word` stand before a secret that is its end: "-p" of "-psecret" after mysql, "-u joe:"'s
  // "joe:". `word.size()` when there is none.
  std::size_t secretIn(std::string_view word);

  // The value of an option does not stand on the next line.
  void endLine() { value_is_user_ = value_is_secret_ = false; }

 private:
  std::string_view program_;      // the last word that is a program of the table
  bool value_is_user_ = false;    // the word before was an option that takes USER:SECRET
  bool value_is_secret_ = false;  // ... that takes a secret
};

}  // namespace pitwall::redact
