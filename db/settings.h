// The catalogue of all settings that Pitwall knows, and the values in effect in this process.
//
// The runtime reads its settings through Settings, `pitwall env` prints the catalogue, and rules recommend
// only settings in it. Standard library only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "db/event.h"
#include "db/result.h"

namespace pitwall {

enum class SettingType : std::uint8_t { boolean, integer, real, text, choice };

// How Pitwall's own runtime treats a setting.
enum class SettingStatus : std::uint8_t {
  honoured,       // read and applied; `since` names the version
  planned,        // the feature that it controls is not in the runtime yet
  external,       // read by a library that the program links (OpenMP, oneDNN, NCCL), not by us
  notApplicable,  // controls something that Pitwall does not have by design; `note` says why
};

struct SettingInfo {
  std::string_view name = {};  // as its owner spells it; "X_*" means every name that begins with "X_"
  std::string_view owner =
      {};  // "mxnet", "openmp", "libgomp", "llvm-openmp", "onednn", "nccl", "pitwall", ...
  SettingType type = SettingType::text;
  std::string_view default_value = {};  // text; "" = unset
  std::string_view allowed =
      {};                      // choices separated by '|', or a range "1..64", "1..", or "" = any of the type
  std::string_view unit = {};  // "threads", "bytes", "elements", "%"; "" = none
  std::string_view meaning = {};  // one paragraph
  std::string_view source = {};   // document or source file that defines it
  SettingStatus status = SettingStatus::planned;
  std::string_view since = {};  // first Pitwall version that honours it
  // Oldest version of the library that reads it ("2.5"), where known and not every version does.
  std::string_view min_version = {};
  std::string_view note = {};  // differences between document and MXNet 1.9.1, or why not applicable
};

// Names for printing: "boolean", "not applicable", ...
const char* toString(SettingType type);
const char* toString(SettingStatus status);

// All settings, ordered by name. Static storage.
std::span<const SettingInfo> settingCatalogue();

// nullptr when unknown. A name without its own entry may match a pattern ("PITWALL_TUNE_*").
const SettingInfo* findSetting(std::string_view name);

// Parses one value as the catalogue specifies: unset or empty means default; booleans are true/false/1/0 in
// any case; numbers may have surrounding blanks. The error names variable, value and the allowed values.
Status checkSettingValue(const SettingInfo& info, std::string_view text);

// Whether a library of that version ("2.4.4", "v3.1") reads the setting; true when either version is unknown.
bool versionReads(const SettingInfo& info, std::string_view version);

// The allowed values, for messages: "an integer from 1 to 60", "one of Naive, Round, Unpooled".
std::string allowedText(const SettingInfo& info);

// The settings of one process: environment first, else the program's own choice, else default. Immutable
// after construction except by set(); reading is thread-safe once set() is no longer called.
class Settings {
 public:
  // Reads every catalogue entry from the environment. Errors: invalidInput for the first bad value of a
  // setting that the runtime honours; bad values of others are ignored (their owner checks them).
  static Result<Settings> fromEnvironment();

  // From pairs name=value instead of the environment; for tests. Same errors.
  static Result<Settings> fromValues(std::span<const std::pair<std::string, std::string>> values);

  // The program's own choice; an environment value still wins. Errors: notFound, invalidInput.
  Status set(std::string_view name, std::string_view value);

  // Precondition: the name is in the catalogue, with that type, and has a default or a value.
  bool boolean(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  double real(std::string_view name) const;
  std::string_view text(std::string_view name) const;  // also of choices; "" when unset without default

  // Whether the environment or the program set a value.
  bool isSet(std::string_view name) const;
  SettingInEffect inEffect(std::string_view name) const;

  // Every honoured setting, and every other setting that is set in the environment; ordered by name.
  std::vector<SettingInEffect> allInEffect() const;

  // PITWALL_TUNE_<name> from the environment, if set. Errors: invalidInput when not an integer.
  Result<std::optional<std::int64_t>> tunable(std::string_view name) const;

  // The declared tunable with the environment's value. One that is no integer or out of range is not taken: `refused`
  // becomes a sentence for the user.
  TunableInEffect chosen(TunableInEffect declared, std::string& refused) const;

 private:
  struct Value {
    std::string text;
    SettingSource source;
  };
  std::unordered_map<std::string, Value> values_;
  std::unordered_map<std::string, std::string> tunables_;
};

}  // namespace pitwall
