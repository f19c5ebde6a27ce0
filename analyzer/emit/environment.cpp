#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>

#include "analyzer/emit.h"
#include "analyzer/emit/utf8.h"
#include "analyzer/units_text.h"

namespace pitwall {
namespace {

constexpr char kFirstLine[] = "# Settings recommended by Pitwall";

bool isName(const std::string& name) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), fits);
}

std::string shellQuoted(const std::string& value) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) || std::strchr("_./:,+-", c) != nullptr; };
  if (!value.empty() && std::all_of(value.begin(), value.end(), plain)) return value;
  std::string quoted = "'";
  for (const char c : value) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string lineFor(const Finding& finding, const Proposal& proposal) {
  const std::string setting = fmt::format("export {}={}", proposal.name, shellQuoted(proposal.proposed));
  const std::string reason = emit::printable(proposal.reason);
  if (proposal.user_set) {
    return fmt::format("# {} [{}] You set {}={}; not overridden.\n# {}\n", reason, finding.id, proposal.name,
                       emit::printable(proposal.current), emit::printable(setting));
  }
  return fmt::format("# {} [{}]\n{}\n", reason, finding.id, setting);
}

}  // namespace

std::string reportAsEnvironment(const Report& report) {
  std::string out = fmt::format("{} from {}. Apply: source THIS_FILE, then run the program again.\n",
                                kFirstLine, emit::printable(report.trace_path));
  out += "# Predicted, not tested: measure before and after.\n";
  std::set<std::string> done;
  for (const auto& finding : report.findings) {
    for (const auto& proposal : finding.proposals) {
      if (!isName(proposal.name) || !done.insert(proposal.name).second) continue;
      out += "\n" + lineFor(finding, proposal);
    }
  }
  if (done.empty()) out += "\n# Nothing to recommend: no rule proposes a setting that this program reads.\n";
  return out;
}

Status writeEnvironmentFile(const Report& report, const std::string& path) {
  std::string first_line;
  if (std::ifstream existing(path); existing && std::getline(existing, first_line)) {
    if (first_line.rfind(kFirstLine, 0) != 0) {
      return fail(
          ErrorCode::invalidInput,
          path + ": exists and was not written by Pitwall; it is left as it is. Choose another file.");
    }
  }
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << reportAsEnvironment(report);
  file.close();
  if (!file) {
    return fail(ErrorCode::io,
                fmt::format("{}: the settings cannot be written: {}. Choose another file with --env.", path,
                            std::strerror(errno)));
  }
  return {};
}

}  // namespace pitwall
