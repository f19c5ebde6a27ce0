// Layout of the table and of the JSON as in MXNet 1.9.1, including its oddities: the units are given as ms
// and kB and both are a thousandth of the recorded values, a counter's average is half of its range, equal
// keys are ordered by descending name.
#include "runtime/profiler/mxnet/aggregate_stats.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "db/json_string.h"

namespace pitwall::mxnet {

namespace {

bool isMemory(const std::string& category) {
  return category == "Device Storage" || category == "Pool Memory";
}

float thousandth(double value) { return static_cast<float>(value / 1000); }

std::string padded(const std::string& text, int width) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%*s", width, text.c_str());
  return buffer;
}

std::string fixed(double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.4f", static_cast<double>(thousandth(value)));
  return buffer;
}

std::string significant(double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.4g", static_cast<double>(thousandth(value)));
  return buffer;
}

// The name in 25 columns, then cells of 16, separated by spaces.
std::string line(const std::string& name, std::initializer_list<std::string> cells) {
  std::string out = name;
  if (out.size() < 25) out.resize(25, ' ');
  bool first = true;
  for (const std::string& cell : cells) {
    if (!first) out += ' ';
    out += padded(cell, 16);
    first = false;
  }
  return out + "\n";
}

}  // namespace

void AggregateStats::Entry::addDuration(std::int64_t ns) {
  const double us = static_cast<double>(ns) / 1000;
  ++count;
  total += us;
  min = std::min(min, us);
  max = std::max(max, us);
}

void AggregateStats::Entry::addSample(double value) {
  is_counter = true;
  ++count;
  total = value;
  min = std::min(min, value);
  max = std::max(max, value);
}

double AggregateStats::Entry::avg() const {
  return is_counter ? std::trunc((max - min) / 2) : total / static_cast<double>(count);
}

double AggregateStats::Entry::key(SortBy by) const {
  switch (by) {
    case SortBy::total: return total;
    case SortBy::avg: return avg();
    case SortBy::min: return min;
    case SortBy::max: return max;
    case SortBy::count: return static_cast<double>(count);
  }
  return 0;
}

std::vector<AggregateStats::Row> AggregateStats::sorted(const Entries& entries, const DumpsOptions& options) {
  std::vector<Row> rows;
  for (const auto& [name, entry] : entries) rows.emplace_back(&name, &entry);
  std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    const double left = a.second->key(options.sort_by), right = b.second->key(options.sort_by);
    if (left != right) return options.ascending ? left < right : left > right;
    return *a.first > *b.first;
  });
  return rows;
}

std::string AggregateStats::print(const DumpsOptions& options) const {
  return options.format == DumpsFormat::table ? table(options) : json(options);
}

std::string AggregateStats::table(const DumpsOptions& options) const {
  std::string out = "\nProfile Statistics:\n\tNote the difference in units for different entries.\n";
  for (const auto& [category, entries] : categories_) {
    out += category + "\n=================\n";
    const bool memory = isMemory(category);
    if (memory) {
      out += line("Name", {"Total Count", "Min Use  (kB)", "Max Use  (kB)", "Avg Use  (kB)"});
      out += line("----", {"-----------", "-------------", "-------------", "-------------"});
    } else {
      out += line("Name", {"Total Count", "Time (ms)", "Min Time (ms)", "Max Time (ms)", "Avg Time (ms)"});
      out += line("----", {"-----------", "---------", "-------------", "-------------", "-------------"});
    }
    for (const auto& [name, entry] : sorted(entries, options)) {
      const std::string count = std::to_string(entry->count);
      out += memory ? line(*name, {count, fixed(entry->min), fixed(entry->max), fixed(entry->avg())})
                    : line(*name, {count, fixed(entry->total), fixed(entry->min), fixed(entry->max),
                                   fixed(entry->avg())});
    }
    out += "\n";
  }
  return out;
}

std::string AggregateStats::json(const DumpsOptions& options) const {
  std::string time, memory;
  for (const auto& [category, entries] : categories_) {
    const bool is_memory = isMemory(category);
    std::string& out = is_memory ? memory : time;
    if (!out.empty()) out += "        ,\n";
    out += "        " + jsonString(category) + ": {\n";
    bool first = true;
    for (const auto& [name, entry] : sorted(entries, options)) {
      if (!first) out += "            ,\n";
      first = false;
      out += "            " + jsonString(*name) + ": {\n";
      out += "                \"Count\": " + std::to_string(entry->count) + ",\n";
      if (!is_memory) out += "                \"Total\": " + significant(entry->total) + ",\n";
      out += "                \"Min\": " + significant(entry->min) + ",\n";
      out += "                \"Max\": " + significant(entry->max) + ",\n";
      out += "                \"Avg\": " + significant(entry->avg()) + "\n            }\n";
    }
    out += "        }\n";
  }
  return "{\n    \"Time\": {\n" + time + "    }\n    ,\n    \"Memory\": {\n" + memory +
         "    }\n    ,\n    \"Unit\": {\n        \"Time\": \"ms\",\n        \"Memory\": \"kB\"\n    }\n}\n";
}

}  // namespace pitwall::mxnet
