// Tar archives, plain and compressed, and xz. The archives are written by the tests themselves and, for the seeds, by
// Python's tarfile and lzma.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lzma.h>
#include <zlib.h>

#include "tests/db/import/imported.h"
#include "tests/db/import/independent.h"

namespace pitwall::test::tar_test {
namespace {

using testing::HasSubstr;

std::string oneEvent(const std::string& name) {
  return R"([{"name":")" + name + R"(","ph":"X","ts":10,"dur":5,"pid":1,"tid":1}])";
}

// A header of the POSIX format and the member's bytes, padded.
std::string tarEntry(const std::string& name, const std::string& content, char type = '0') {
  std::string header(512, '\0');
  const auto put = [&](std::size_t at, const std::string& text) { header.replace(at, text.size(), text); };
  const auto octal = [](std::size_t value, int digits) {
    std::string text(static_cast<std::size_t>(digits), '0');
    for (std::size_t i = text.size(); value > 0 && i-- > 0; value /= 8)
      text[i] = static_cast<char>('0' + value % 8);
    return text;
  };
  put(0, name);
  put(100, "0000644");
  put(124, octal(content.size(), 11));
  put(148, "        ");
  header[156] = type;
  put(257, "ustar");
  put(263, "00");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put(148, octal(sum, 6) + std::string("\0 ", 2));
  std::string padding((512 - content.size() % 512) % 512, '\0');
  return header + content + padding;
}
const std::string kTarEnd(1024, '\0');

std::string asXz(const std::string& text) {
  std::string out(text.size() + 1024, '\0');
  std::size_t size = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr,
                                    reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                                    reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size()),
            LZMA_OK);
  return out.substr(0, size);
}
std::string asGzip(const std::string& text) {
  const TemporaryFile file("", "packed");
  gzFile packed = gzopen(file.path().c_str(), "wb");
  gzwrite(packed, text.data(), static_cast<unsigned>(text.size()));
  gzclose(packed);
  return readAll(file.path());
}

std::string twoRanks() {
  return tarEntry("run/", "", '5') + tarEntry("run/rank0.json", oneEvent("a")) +
         tarEntry("run/rank1.json", oneEvent("b")) + tarEntry("link", "", '2') + kTarEnd;
}

TEST(ImportTar, EachRegularFileIsAnInput) {
  for (const std::string& archive : {twoRanks(), asGzip(twoRanks()), asXz(twoRanks())}) {
    const auto imported = importText(archive);
    ASSERT_EQ(imported->error, "");
    EXPECT_TRUE(imported->summary.complete());
    ASSERT_EQ(imported->summary.inputs.size(), 2U);
    EXPECT_THAT(imported->summary.inputs[1].path, HasSubstr("input: run/rank1.json"));
    EXPECT_EQ(imported->only("a").dur_ns, 5000);
    EXPECT_EQ(imported->only("b").dur_ns, 5000);
    EXPECT_EQ(imported->summary.ranks, (std::vector<int>{0, 1}));
  }
}

// Written by Python: pax headers with a long name, and a file that is no trace.
TEST(ImportTar, LongNamesAndFilesThatAreNoTraces) {
  const auto imported = importFiles({seedFile("compressed/three.tar.xz")});
  ASSERT_EQ(imported->error, "");
  ASSERT_EQ(imported->summary.inputs.size(), 2U);
  EXPECT_THAT(imported->summary.inputs[1].path, HasSubstr("longlonglong"));
  EXPECT_EQ(Imported::counted(imported->summary.not_understood,
                              "files of an archive or folder that are not traces"),
            1);
  const auto gnu = importText(tarEntry("././@LongLink", "folder/real name.json", 'L') +
                              tarEntry("short", oneEvent("a")) + kTarEnd);
  EXPECT_THAT(gnu->summary.inputs.at(0).path, HasSubstr("folder/real name.json"));
}

TEST(ImportTar, MembersMayBeCompressedAndDatabases) {
  const auto imported = importText(tarEntry("rank0.json.gz", asGzip(oneEvent("a"))) +
                                   tarEntry("rank1.json.xz", asXz(oneEvent("b"))) + kTarEnd);
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->summary.totalEvents(), 2);
  EXPECT_EQ(imported->summary.inputs[1].compression, "tar, xz");
  const auto database =
      importText(tarEntry("small.nvvp", readAll(seedFile("nvprof_sqlite/small.nvvp"))) + kTarEnd);
  EXPECT_EQ(database->error, "");
  EXPECT_EQ(database->summary.inputs.at(0).format, "nvprof database");
}

TEST(ImportTar, AnArchiveThatIsCutYieldsTheFilesBefore) {
  const std::string whole = tarEntry("rank0.json", oneEvent("a")) +
                            tarEntry("rank1.json", oneEvent("b").substr(0, oneEvent("b").size() - 1) + "," +
                                                       std::string(600, ' ') + oneEvent("c").substr(1)) +
                            kTarEnd;
  const auto imported = importText(whole.substr(0, 512 + 512 + 512 + 620));
  ASSERT_EQ(imported->error, "");
  EXPECT_FALSE(imported->summary.complete());
  EXPECT_EQ(imported->only("a").dur_ns, 5000);
  EXPECT_EQ(imported->only("b").dur_ns, 5000);
  EXPECT_TRUE(imported->named("c").empty());
  const auto packed = asGzip(whole);
  const auto cut = importText(packed.substr(0, packed.size() - 6));
  EXPECT_FALSE(cut->summary.complete()) << "its checksum is missing";
}

// Between two files, and within the header of the second.
TEST(ImportTar, AnArchiveWithoutItsEndMarkIsIncomplete) {
  const std::string first = tarEntry("rank0.json", oneEvent("a"));
  for (const std::string& archive : {first, first + tarEntry("rank1.json", oneEvent("b")).substr(0, 200)}) {
    const auto imported = importText(archive);
    ASSERT_EQ(imported->error, "");
    EXPECT_FALSE(imported->summary.complete());
    EXPECT_THAT(imported->summary.inputs[0].damage, HasSubstr("ends without its end mark"));
    EXPECT_EQ(imported->only("a").dur_ns, 5000);
  }
  const auto folder = importText(first + tarEntry("folder", std::string(2000, 'x'), '5').substr(0, 700));
  EXPECT_THAT(folder->summary.inputs.at(0).damage, HasSubstr("ends within an entry behind it"));
}

// What tar --sparse writes, in GNU's older form with a map of the parts, and in the form of pax.
TEST(ImportTar, SparseFilesAreNamed) {
  const auto sparse = [](bool longer) {
    std::string entry = tarEntry("sparse.json", oneEvent("holes"), 'S');
    entry[482] = longer ? '\1' : '\0';
    unsigned sum = 0;
    for (std::size_t i = 0; i < 512; ++i)
      sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(entry[i]);
    for (std::size_t i = 0; i < 6; ++i) entry[148 + i] = static_cast<char>('0' + (sum >> (3 * (5 - i))) % 8);
    if (longer) entry.insert(512, std::string(512, '\0'));
    return entry;
  };
  const std::string pax =
      tarEntry("pax", "22 GNU.sparse.major=1\n", 'x') + tarEntry("GNUSparseFile/b", oneEvent("p"));
  const auto imported =
      importText(sparse(false) + sparse(true) + pax + tarEntry("whole.json", oneEvent("a")) + kTarEnd);
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->summary.totalEvents(), 1);
  EXPECT_EQ(imported->only("a").dur_ns, 5000);
  const auto& left_out =
      imported->summary.not_understood.at("files of an archive or folder that are not traces");
  EXPECT_EQ(left_out.count, 3);
  EXPECT_THAT(left_out.example, HasSubstr("sparse.json: is stored without its holes"));
  EXPECT_THAT(importText(sparse(false) + kTarEnd)->error, HasSubstr("unpack the archive"));
}

// The first file that is a trace is the first input: its facts and clock are the trace's.
TEST(ImportTar, AFileThatIsNoTraceTakesNoNumber) {
  const std::string trace = R"({"schemaVersion":1,"baseTimeNanoseconds":1700000000000000000,"traceEvents":[)"
                            R"({"ph":"X","cat":"cpu_op","name":"a","pid":5,"tid":5,"ts":1,"dur":2}]})";
  const auto imported =
      importText(tarEntry("README", "nothing of a trace") + tarEntry("trace.json", trace) + kTarEnd);
  ASSERT_EQ(imported->error, "");
  const auto alone = importText(trace);
  EXPECT_EQ(imported->sink.meta_values.at("trace.producer"), alone->sink.meta_values.at("trace.producer"));
  for (const auto& [key, value] : imported->sink.meta_values) EXPECT_FALSE(key.starts_with("input.")) << key;
}

TEST(ImportTar, SizesAndProgressAreTheMembers) {
  ImportOptions options;
  ImportProgress last;
  options.progress = [&](const ImportProgress& progress) { last = progress; };
  const std::string text = oneEvent("a");
  const auto imported =
      importText(tarEntry("a.json", text) + tarEntry("other", std::string(100'000, 'x')) + kTarEnd, options);
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->summary.inputs.at(0).file_bytes, static_cast<Bytes>(text.size()));
  EXPECT_EQ(last.total_bytes, last.done_bytes);
}

TEST(ImportTar, DamagedAndEmptyArchivesSaySo) {
  std::string lying = tarEntry("rank0.json", oneEvent("a")) + kTarEnd;
  lying[512 + 512] = 'x';  // where the next header's name would be, with a wrong sum
  const auto damaged = importText(lying);
  EXPECT_THAT(damaged->summary.inputs.at(0).damage, HasSubstr("damaged behind it"));
  EXPECT_THAT(importText(tarEntry("run/", "", '5') + kTarEnd)->error, HasSubstr("tar archive without files"));
  std::string huge = tarEntry("a", "");
  std::string many;
  for (int i = 0; i < 4097; ++i) many += huge;
  EXPECT_THAT(importText(many + kTarEnd)->error, HasSubstr("more than 4096 files"));
}

TEST(ImportXz, OneFileSeveralStreamsAndDamage) {
  const std::string text = oneEvent("a");
  const auto imported = importText(asXz(text.substr(0, 20)) + asXz(text.substr(20)));
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->summary.inputs[0].compression, "xz");
  EXPECT_EQ(imported->only("a").dur_ns, 5000);
  const std::string packed = asXz("[" + std::string(100'000, ' ') + text.substr(1, text.size() - 2) + ",");
  const auto cut = importText(packed.substr(0, packed.size() - 20));
  ASSERT_EQ(cut->error, "");
  EXPECT_FALSE(cut->summary.complete());
  EXPECT_THAT(cut->summary.inputs[0].damage, HasSubstr("ends inside an xz stream"));
  const auto odd = importText(asXz(text) + std::string(2, '\0'));  // padding is of whole groups of four bytes
  EXPECT_THAT(odd->summary.inputs.at(0).damage, HasSubstr("not a valid xz stream"));
  std::string changed = packed;
  changed[packed.size() / 2] = static_cast<char>(changed[packed.size() / 2] ^ 0x55);
  const auto wrong = importText(changed);
  EXPECT_TRUE(!wrong->error.empty() || !wrong->summary.complete());
}

TEST(ImportXz, GrowthIsBounded) {
  ImportOptions options;
  options.limits.decompressed_bytes = 1 << 20;
  const auto imported = importText(
      asXz(oneEvent("a").substr(0, oneEvent("a").size() - 1) + "," + std::string(4 << 20, ' ')), options);
  EXPECT_THAT(imported->error, HasSubstr("decompresses to more than"));
}

}  // namespace
}  // namespace pitwall::test::tar_test
