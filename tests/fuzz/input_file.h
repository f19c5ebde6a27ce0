// The file that holds the input under test.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace pitwall::fuzz {

// Writes the bytes to a file, always the same, in a folder that goes with the process. Returns its path.
const std::string& asFile(std::span<const std::uint8_t> bytes);

// Targets that are large enough for a separate file: `pitwall_trace`, `redact`, `record_file`, `csv_rows` and `libsvm_rows`.
void openTrace(std::span<const std::uint8_t> input);
void redactSecrets(std::span<const std::uint8_t> input);
void readRecords(std::span<const std::uint8_t> input);
void readCsv(std::span<const std::uint8_t> input);
void readLibsvm(std::span<const std::uint8_t> input);

}  // namespace pitwall::fuzz
