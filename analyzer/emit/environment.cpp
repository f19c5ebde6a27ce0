#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>

#include "analyzer/emit.h"
#include "analyzer/emit/json_emitter.h"
#include "analyzer/emit/utf8.h"
#include "db/export.h"
#include "db/json_string.h"

namespace pitwall {
namespace {

constexpr char kFirstLine[] = "# Settings recommended by Pitwall";

bool isName(const std::string& name) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), fits);
}

// Doubles or escapes characters with a special meaning in the format.
std::string replaced(const std::string& text, std::string_view what, std::string_view by) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text.compare(at, what.size(), what) == 0) {
      out += by;
      at += what.size();
    } else {
      out += text[at++];
    }
  }
  return out;
}

std::string doubleQuoted(const std::string& value, std::string_view escaped) {
  std::string quoted = "\"";
  for (const char c : value) {
    if (escaped.find(c) != std::string_view::npos) quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

bool isPlain(const std::string& value) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) || std::strchr("_./:,+-", c) != nullptr; };
  return !value.empty() && std::all_of(value.begin(), value.end(), plain);
}

std::string shellQuoted(const std::string& value) {
  return isPlain(value) ? value : "'" + replaced(value, "'", "'\\''") + "'";
}

std::string fishQuoted(const std::string& value) {
  return isPlain(value) ? value : "'" + replaced(replaced(value, "\\", "\\\\"), "'", "\\'") + "'";
}

// Also for several lines, with the indentation kept.
std::string commented(const std::string& text) { return "# " + replaced(text, "\n", "\n# "); }

const char* indentOf(EnvironmentFormat format) { return format == EnvironmentFormat::kubernetes ? "  " : ""; }

std::string lineFor(const Finding& finding, const Proposal& proposal, EnvironmentFormat format) {
  const std::string setting = environmentAssignment(proposal.name, proposal.proposed, format);
  const std::string indent = indentOf(format);
  const std::string reason = emit::printable(proposal.reason);
  if (proposal.user_set) {
    return fmt::format("{}# {} [{}] You set {}={}; not overridden.\n{}\n", indent, reason, finding.id,
                       proposal.name, emit::printable(proposal.current), commented(setting));
  }
  return fmt::format("{}# {} [{}]\n{}\n", indent, reason, finding.id, setting);
}

const char* headOf(EnvironmentFormat format, bool has_active) {
  switch (format) {
    case EnvironmentFormat::systemd: return "\n[Service]\n";
    case EnvironmentFormat::kubernetes: return has_active ? "\nenv:\n" : "\nenv: []\n";
    default: return "";
  }
}

constexpr EnvironmentFormatInfo kFormats[] = {
    {EnvironmentFormat::bash, "bash", ".env", "source PATH"},
    {EnvironmentFormat::fish, "fish", ".fish", "source PATH"},
    {EnvironmentFormat::powershell, "powershell", ".ps1", ". PATH"},
    {EnvironmentFormat::dockerfile, "dockerfile", ".dockerfile", "add these lines to the Dockerfile"},
    {EnvironmentFormat::systemd, "systemd", ".conf", "put the file into /etc/systemd/system/UNIT.service.d/"},
    {EnvironmentFormat::kubernetes, "kubernetes", ".yaml", "add these entries to the container's env"}};

}  // namespace

// None of the formats allows line ends; the values of settings contain none.
std::string environmentAssignment(const std::string& name, const std::string& text,
                                  EnvironmentFormat format) {
  const std::string value = emit::printable(text);
  switch (format) {
    case EnvironmentFormat::bash: return fmt::format("export {}={}", name, shellQuoted(value));
    case EnvironmentFormat::fish: return fmt::format("set -gx {} {}", name, fishQuoted(value));
    case EnvironmentFormat::powershell:
      return fmt::format("$env:{} = '{}'", name, replaced(value, "'", "''"));
    case EnvironmentFormat::dockerfile:
      return fmt::format("ENV {}={}", name, isPlain(value) ? value : doubleQuoted(value, "\\\"$"));
    case EnvironmentFormat::systemd:
      return "Environment=" + doubleQuoted(fmt::format("{}={}", name, replaced(value, "%", "%%")), "\\\"");
    case EnvironmentFormat::kubernetes:
      return fmt::format("  - name: {}\n    value: {}", name, jsonString(replaced(value, "$(", "$$(")));
  }
  return {};
}

std::span<const EnvironmentFormatInfo> environmentFormats() { return kFormats; }

std::string reportAsEnvironment(const Report& report, EnvironmentFormat format) {
  const auto& info = kFormats[static_cast<std::size_t>(format)];
  std::string out =
      fmt::format("{} from {}. Apply: {}, then run the program again.\n", kFirstLine,
                  emit::printable(report.trace_path), replaced(info.apply, "PATH", "THIS_FILE"));
  out += "# Predicted, not tested: measure before and after.\n";
  std::map<std::string, std::string> done;  // the value by name
  std::string lines;
  bool has_active = false;
  for (const auto& finding : report.findings) {
    for (const auto& proposal : finding.proposals) {
      if (!isName(proposal.name)) continue;
      const auto [first, is_new] = done.try_emplace(proposal.name, proposal.proposed);
      if (is_new) {
        lines += "\n" + lineFor(finding, proposal, format);
        has_active = has_active || !proposal.user_set;
      } else if (first->second != proposal.proposed) {
        lines += fmt::format("\n{}# [{}] needs {}={} instead, and is predicted to gain less.\n",
                             indentOf(format), finding.id, proposal.name, emit::printable(proposal.proposed));
      }
    }
  }
  out += headOf(format, has_active) + lines;
  if (done.empty()) out += "\n# Nothing to recommend: no rule proposes a setting that this program reads.\n";
  return out;
}

Status writeEnvironmentFile(const Report& report, const std::string& path, EnvironmentFormat format) {
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) {  // a pipe would be waited for
    std::string first_line;
    std::ifstream existing(path);
    if (std::getline(existing, first_line) && first_line.rfind(kFirstLine, 0) != 0) {
      return fail(ErrorCode::invalidInput,
                  path + ": exists and was not written by Pitwall; it is not changed. Choose another file.");
    }
  }
  return replaceFile(path, reportAsEnvironment(report, format));
}

}  // namespace pitwall
