#include "db/redact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/redact/patterns.h"
#include "db/settings.h"
#include "tests/support/redact_examples.h"

namespace pitwall::redact_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Redact, KnowsSecretNames) {
  for (const char* name : {"HF_TOKEN",
                           "AWS_SECRET_ACCESS_KEY",
                           "AWS_ACCESS_KEY_ID",
                           "WANDB_API_KEY",
                           "MYSQL_PWD",
                           "DB_PASSWORD",
                           "password",
                           "--auth-token",
                           "clientSecret",
                           "apiKey",
                           "APIKEY",
                           "HFTOKEN",
                           "PGPASSWORD",
                           "Authorization",
                           "azure.storage.key",
                           "GIT_PAT",
                           "session-cookie",
                           "X-Amz-Signature",
                           "sshPassphrase",
                           "id_rsa_privatekey",
                           "MY_CREDS",
                           "COMET_API"}) {
    EXPECT_TRUE(isSecretName(name)) << name;
  }
  for (const char* name : {"PATH",
                           "PWD",
                           "OLDPWD",
                           "HOME",
                           "TOKENIZERS_PARALLELISM",
                           "KEYBOARD",
                           "MONKEY",
                           "SSH_AUTH_SOCK",
                           "OMP_NUM_THREADS",
                           "COMPASS",
                           "AUTHOR",
                           "PATTERN",
                           "NCCL_DEBUG",
                           "BYPASS_CACHE",
                           "SIGNAL",
                           "API",
                           "my_api",
                           "API_URL",
                           "PIN_MEMORY",
                           "",
                           "--",
                           "_"}) {
    EXPECT_FALSE(isSecretName(name)) << name;
  }
}

TEST(Redact, SettingsOfTheCatalogueStayReadable) {
  for (const auto& info : settingCatalogue()) EXPECT_FALSE(isSecretName(info.name)) << info.name;
}

TEST(Redact, HidesValuesByName) {
  EXPECT_EQ(redactValue("HF_TOKEN", "abc"), "[redacted]");
  EXPECT_EQ(redactValue("HF_TOKEN", ""), "");
  EXPECT_EQ(redactValue("OMP_NUM_THREADS", "4"), "4");
  EXPECT_EQ(redactValue("LS_COLORS", "di=01;34:ln=01"), "di=01;34:ln=01");
}

TEST(Redact, HidesCredentialsInUrls) {
  EXPECT_EQ(redactValue("HTTP_PROXY", "http://joe:pa@ss@proxy:3128/x"), "http://[redacted]@proxy:3128/x");
  EXPECT_EQ(redactText("git clone https://x-oauth@example.org/a.git"),
            "git clone https://[redacted]@example.org/a.git");
  EXPECT_EQ(redactText("postgres://u:p@[::1]/db?sslmode=no"), "postgres://[redacted]@[::1]/db?sslmode=no");
  EXPECT_EQ(redactText("http://example.org/a@b"), "http://example.org/a@b");
  EXPECT_EQ(redactText("get https://e.org/d?user=me&token=abc&x=1"),
            "get https://e.org/d?user=me&token=[redacted]&x=1");
}

TEST(Redact, KnowsShapesOfTokens) {
  const std::string run = "abcdefghijABCDEFGHIJ0123456789";
  for (const std::string prefix :
       {"ghp_", "hf_", "glpat-", "sk-", "xoxb-", "AKIA", "github_pat_", "nvapi-"}) {
    EXPECT_EQ(redactValue("X", "a " + prefix + run + " b"), "a [redacted] b") << prefix;
    EXPECT_EQ(redactText("--x=" + prefix + run), "--x=[redacted]") << prefix;
  }
  EXPECT_EQ(redactText("ghp_short hf_model task-" + run), "ghp_short hf_model task-" + run);
  EXPECT_EQ(redactText("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3 x"), "[redacted] x");
  EXPECT_EQ(redactText("k -----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- z"),
            "k [redacted] z");
  EXPECT_EQ(redactText("-----BEGIN CERTIFICATE-----\nMIIE\n"), "-----BEGIN CERTIFICATE-----\nMIIE\n");
}

TEST(Redact, HidesNamedValuesInText) {
  EXPECT_EQ(redactText("train --password=hunter2 --lr 0.1"), "train --password=[redacted] --lr 0.1");
  EXPECT_EQ(redactText("train --api-key hunter2 --lr 0.1"), "train --api-key [redacted] --lr 0.1");
  EXPECT_EQ(redactText("train --token --lr 0.1"), "train --token --lr 0.1");
  EXPECT_EQ(redactText(R"({"user":"joe","password":"a \" b","n":1})"),
            R"({"user":"joe","password":"[redacted]","n":1})");
  EXPECT_EQ(redactText(R"({\"password\":\"abc\",\"n\":1})"), R"({\"password\":\"[redacted]\",\"n\":1})");
  EXPECT_EQ(redactText("curl -H 'Authorization: Bearer abc.def' x"),
            "curl -H 'Authorization: Bearer [redacted]' x");
  EXPECT_EQ(redactText("Server=a;Pwd=secret1;Port=1"), "Server=a;Pwd=[redacted];Port=1");
  EXPECT_EQ(redactText("DB_PASSWORD='correct horse' run"), "DB_PASSWORD='[redacted]' run");
  EXPECT_EQ(redactText("the key of the matter is a token of thanks"),
            "the key of the matter is a token of thanks");
  EXPECT_EQ(redactText("PWD=/home/x"), "PWD=/home/x");
}

TEST(Redact, HidesArgumentsAfterSecretOptions) {
  const std::vector<std::string> arguments = {
      "prog", "--password", "correct horse",         "--token",
      "--lr", "1",          "DB_PASSWORD=two words", "u=http://a:b@c"};
  EXPECT_THAT(redactArguments(arguments),
              ElementsAre("prog", "--password", "[redacted]", "--token", "--lr", "1",
                          "DB_PASSWORD=[redacted]", "u=http://[redacted]@c"));
}

// No part of it is secret by its own shape.
TEST(Redact, HidesTheExampleOfEveryPattern) {
  const std::string secret(test::kExampleSecret);
  ASSERT_EQ(redactText("a " + secret + " b"), "a " + secret + " b");
  for (const SecretPattern& pattern : secretPatterns()) {
    const std::string example = test::exampleOf(pattern);
    ASSERT_THAT(example, HasSubstr(secret)) << pattern.text;
    EXPECT_THAT(redactText(example), Not(HasSubstr(secret))) << example;
    EXPECT_THAT(redactText("sh -c '" + example + "'"), Not(HasSubstr(secret))) << example;
    if (example.find(": ") != example.npos) continue;  // text, not the arguments of a command
    for (const std::string& argument : redactArguments(test::splitAtBlanks(example)))
      EXPECT_THAT(argument, Not(HasSubstr(secret))) << example;
  }
}

TEST(Redact, HidesSecretsInShortOptions) {
  EXPECT_EQ(redactText("curl -s -u joe:pa$$ http://e.org"), "curl -s -u joe:[redacted] http://e.org");
  EXPECT_EQ(redactText(R"(["curl", "-u", "joe:pass word", "-s"])"),
            R"(["curl", "-u", "joe:[redacted]", "-s"])");
  EXPECT_EQ(redactText("/usr/bin/mysql -uroot -phunter db"), "/usr/bin/mysql -uroot -p[redacted] db");
  EXPECT_EQ(redactText("sshpass -p hunter ssh host"), "sshpass -p [redacted] ssh host");
  EXPECT_EQ(redactText("train -pS3cret! --lr 0.1"), "train -p[redacted] --lr 0.1");
  EXPECT_THAT(redactArguments(std::vector<std::string>{"redis-cli", "-a", "two words", "get", "x"}),
              ElementsAre("redis-cli", "-a", "[redacted]", "get", "x"));
  for (const char* text : {"docker run -u 1000:1000 -p8080:80 x", "gcc -pthread -pipe a.c",
                           "python3 -u train.py -p 3", "ffmpeg -pix_fmt yuv420p", "pip install -U numpy",
                           "tool -p/srv/Data1/x -p12345678", "prog -param=Value123", "id -u joe"})
    EXPECT_EQ(redactText(text), text);
}

TEST(Redact, HidesAddressesOfWebhooks) {
  EXPECT_EQ(redactText("post https://hooks.slack.com/services/T0/B0/xyz now"),
            "post https://hooks.slack.com/[redacted] now");
  EXPECT_EQ(redactText("https://u:p@example.org/a/webhooks/1/abc?x=1"),
            "https://[redacted]@example.org/a/webhooks/[redacted]");
  EXPECT_EQ(redactText("https://example.org/docs/webhooks.html"), "https://example.org/docs/webhooks.html");
  EXPECT_EQ(redactValue("ALERT_WEBHOOK", "abc"), "[redacted]");
}

TEST(Redact, LeavesOtherTextAloneByteForByte) {
  std::string binary;
  for (int i = 0; i < 4096; ++i) binary += static_cast<char>((i * 7919) & 0xff);
  for (const std::string& text :
       {std::string(), std::string("a"), std::string("://"), std::string("-----BEGIN "),
        std::string("python -m train --epochs 3 data/x.csv")}) {
    EXPECT_EQ(redactText(text), text);
  }
  EXPECT_NO_FATAL_FAILURE((void)redactText(binary));
}

TEST(Redact,
     ReadsHostileTextOnce) {  // each of these would take very long if a token were looked for quadratically
  for (const std::string piece :
       {"eyJ-", "-----BEGIN ", "ghp_", "http://", "password", "token=", "key:\"", "--pw ", "-u ", "mysql -p ",
        "'-pX1aaaa", "/webhooks/", "://", "\"", "hvs."}) {
    std::string text;
    while (text.size() < (std::size_t{256} << 10)) text += piece;
    EXPECT_GT(redactText(text).size(), 0u) << piece;
  }
}

}  // namespace
}  // namespace pitwall::redact_test
